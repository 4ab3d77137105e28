# Verifies its credentials with Twitter::API, which uses version 1.1 of the API.
use strict;
use warnings;
use Twitter::API;

my $client = Twitter::API->new_with_traits(
    traits              => 'ApiMethods',
    consumer_key        => $ENV{LOCUM_API_KEY},
    consumer_secret     => $ENV{LOCUM_API_SECRET},
    access_token        => $ENV{LOCUM_ACCESS_TOKEN},
    access_token_secret => $ENV{LOCUM_ACCESS_TOKEN_SECRET},
);
my $user = $client->verify_credentials;
die $user->{screen_name} unless $user->{screen_name} eq $ENV{LOCUM_USERNAME};
print "done\n";
