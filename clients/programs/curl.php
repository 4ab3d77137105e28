<?php
// Reads with the curl extension and with a stream.
$headers = ["Authorization: Bearer " . getenv("LOCUM_USER_TOKEN")];
$curl = curl_init("https://api.x.com/2/users/me");
curl_setopt_array($curl, [CURLOPT_HTTPHEADER => $headers, CURLOPT_RETURNTRANSFER => true]);
$body = curl_exec($curl);
if (!str_contains((string) $body, getenv("LOCUM_USER_ID"))) {
    fwrite(STDERR, $body . curl_error($curl));
    exit(1);
}
echo "done\n";
