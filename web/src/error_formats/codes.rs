//! Legacy error codes with their statuses and messages (contract core §3.5).

pub fn find_code(code: u16) -> Option<(u16, &'static str)> {
    let index = CODES.binary_search_by_key(&code, |(code, ..)| *code).ok()?;
    CODES.get(index).map(|(_, status, message)| (*status, *message))
}

macro_rules! codes {
    ($($code:literal $status:literal $message:literal)*) => { &[$(($code, $status, $message)),*] };
}

/// Sorted by code.
const CODES: &[(u16, u16, &str)] = codes! {
    3 400 "Invalid coordinates."
    17 404 "No user matches for specified terms."
    18 403 "Too many terms specified in query."
    25 403 "Query parameters are missing."
    32 401 "Could not authenticate you."
    34 404 "Sorry, that page does not exist."
    36 403 "You cannot report yourself for spam."
    38 403 "A parameter is missing."
    44 400 "A parameter is invalid."
    50 404 "User not found."
    63 403 "User has been suspended."
    64 403 "Your account is suspended and is not permitted to access this feature."
    68 410 "The REST API v1 is no longer active."
    87 403 "Client is not permitted to perform this action."
    88 429 "Rate limit exceeded."
    89 401 "Invalid or expired token."
    92 403 "SSL is required."
    93 403 "This application is not allowed to access or delete your direct messages."
    99 403 "Unable to verify your credentials"
    109 404 "The specified user is not found in this list."
    110 400 "The user you are trying to remove from the list is not a member."
    120 403 "Account update failed: value is too long."
    130 503 "Over capacity."
    131 500 "Internal error."
    135 401 "Timestamp out of bounds."
    136 403 "You have been blocked from performing this action."
    139 403 "You have already favorited this status."
    144 404 "No status found with that ID."
    150 403 "You cannot send messages to users who are not following you."
    151 403 "There was an error sending your message."
    160 403 "You've already requested to follow the user."
    161 403 "You are unable to follow more people at this time."
    179 403 "Sorry, you are not authorized to see this status."
    185 403 "User is over daily status update limit."
    186 403 "Tweet needs to be a bit shorter."
    187 403 "Status is a duplicate."
    195 403 "Missing or invalid url parameter."
    200 403 "Forbidden."
    205 403 "You are over the limit for spam reports."
    214 400 "Webhook URL does not meet the requirements."
    215 400 "Bad Authentication data."
    220 403 "Your credentials do not allow access to this resource."
    226 403 "This request looks like it might be automated."
    251 410 "This endpoint has been retired and should not be used."
    261 403 "Application cannot perform write actions."
    271 403 "You can't mute yourself."
    272 403 "You are not muting the specified user."
    323 400 "Animated GIFs are not allowed when uploading multiple images."
    324 400 "The validation of media ids failed."
    325 400 "A media id was not found."
    326 403 "To protect our users from spam, this account is temporarily locked."
    327 403 "You have already retweeted this Tweet."
    349 403 "You cannot send messages to this user."
    354 403 "The text of your direct message is over the max character limit."
    355 409 "Subscription already exists."
    385 403 "You attempted to reply to a Tweet that is deleted or not visible to you."
    386 403 "The Tweet exceeds the number of allowed attachment types."
    407 400 "The given URL is invalid."
    415 403 "Callback URL not approved for this client application. Approved callback URLs can be adjusted in your application settings"
    416 401 "Invalid / suspended application."
    417 401 "Desktop applications only support the oauth_callback value 'oob'."
    421 404 "This Tweet is no longer available."
    422 404 "This Tweet is no longer available because it violated the Rules."
    425 403 "Some actions on this user's Tweet have been disabled."
    433 403 "The original Tweet author restricted who can reply to this Tweet."
};

#[cfg(test)]
mod tests {
    use super::{CODES, find_code};

    #[test]
    fn every_code_is_found() {
        assert!(CODES.is_sorted_by_key(|(code, ..)| *code));
        for (code, status, message) in CODES {
            assert_eq!(find_code(*code), Some((*status, *message)));
        }
        assert_eq!(find_code(1), None);
    }
}
