//! A program for each client library, as tested in `clients/programs`.

pub(super) struct GuideTemplate {
    pub(super) id: &'static str,
    pub(super) language: &'static str,
    pub(super) library: &'static str,
    /// Of `emulator::clients`.
    pub(super) family: &'static str,
    /// A `User-Agent` of the library, or its `X-User-Agent`.
    #[cfg_attr(not(test), expect(dead_code, reason = "a test compares it with the family"))]
    pub(super) example_agent: &'static str,
    /// Empty if the language contains it.
    pub(super) install: &'static str,
    pub(super) file: &'static str,
    pub(super) program: &'static str,
    pub(super) run: &'static str,
    pub(super) note: &'static str,
}

pub(super) const GUIDES: &[GuideTemplate] = &[
    GuideTemplate {
        id: "curl",
        language: "Shell",
        library: "curl",
        family: "curl",
        example_agent: "curl/8.5.0",
        install: "",
        file: "first.sh",
        program: "curl -s @BASE_URL@/2/users/me \\\n  -H \"Authorization: Bearer @USER_TOKEN@\"\n",
        run: "sh first.sh",
        note: "",
    },
    GuideTemplate {
        id: "tweepy",
        language: "Python",
        library: "tweepy",
        family: "tweepy",
        example_agent: "Python/3.12.1 Requests/2.32.3 Tweepy/4.14.0",
        install: "pip install tweepy",
        file: "bot.py",
        program: "import tweepy\n\nclient = tweepy.Client(\n    bearer_token=\"@BEARER_TOKEN@\",\n    \
                  consumer_key=\"@API_KEY@\",\n    consumer_secret=\"@API_SECRET@\",\n    \
                  access_token=\"@ACCESS_TOKEN@\",\n    access_token_secret=\"@ACCESS_TOKEN_SECRET@\",\n)\n\
                  print(client.get_me().data)\nprint(client.create_tweet(text=\"Hello from tweepy\").data)\n",
        run: "locum run -- python bot.py",
        note: "tweepy names the public hosts in its code, so it needs locum run or the variables of locum env \
               --intercept. tweepy.asynchronous needs locum run.",
    },
    GuideTemplate {
        id: "xdk-python",
        language: "Python",
        library: "xdk (official)",
        family: "xdk for Python",
        example_agent: "xdk-python/0.10.6",
        install: "pip install xdk",
        file: "lookup.py",
        program: "from xdk import Client\n\nclient = Client(bearer_token=\"@BEARER_TOKEN@\")\n\
                  print(client.users.get_by_username(\"@USERNAME@\").data)\n",
        run: "locum run -- python lookup.py",
        note: "",
    },
    GuideTemplate {
        id: "twitterapi",
        language: "Python",
        library: "TwitterAPI",
        family: "TwitterAPI",
        example_agent: "python-TwitterAPI",
        install: "pip install TwitterAPI",
        file: "lookup.py",
        program: "from TwitterAPI import TwitterAPI\n\napi = TwitterAPI(\n    \"@API_KEY@\", \"@API_SECRET@\",\n    \
                  \"@ACCESS_TOKEN@\", \"@ACCESS_TOKEN_SECRET@\", api_version=\"2\",\n)\n\
                  print(api.request(\"users/by/username/:@USERNAME@\").json())\n",
        run: "locum run -- python lookup.py",
        note: "",
    },
    GuideTemplate {
        id: "twitter-ads",
        language: "Python",
        library: "twitter-ads",
        family: "twitter-ads",
        example_agent: "twitter-ads version: 11.0.0 platform: Python 3.12.1",
        install: "pip install twitter-ads",
        file: "campaigns.py",
        program: "from twitter_ads.client import Client\n\nclient = Client(\n    \"@API_KEY@\", \"@API_SECRET@\",\n    \
                  \"@ACCESS_TOKEN@\", \"@ACCESS_TOKEN_SECRET@\",\n)\naccount = client.accounts(\"@ADS_ACCOUNT_ID@\")\n\
                  for campaign in account.campaigns():\n    print(campaign.name)\n",
        run: "locum run -- python campaigns.py",
        note: "With options={\"sandbox\": True} it uses the sandbox of the Ads API.",
    },
    GuideTemplate {
        id: "requests",
        language: "Python",
        library: "requests, httpx, requests-oauthlib",
        family: "Python",
        example_agent: "python-requests/2.32.3",
        install: "pip install requests",
        file: "first.py",
        program: "import requests\n\nheaders = {\"Authorization\": \"Bearer @USER_TOKEN@\"}\n\
                  print(requests.get(\"@BASE_URL@/2/users/me\", headers=headers).json())\n",
        run: "python first.py",
        note: "",
    },
    GuideTemplate {
        id: "twitter-api-v2",
        language: "Node",
        library: "twitter-api-v2",
        family: "twitter-api-v2",
        example_agent: "Node.twitter-api-v2",
        install: "npm install twitter-api-v2",
        file: "bot.mjs",
        program: "import { TwitterApi } from \"twitter-api-v2\";\n\nconst client = new TwitterApi({\n  \
                  appKey: \"@API_KEY@\",\n  appSecret: \"@API_SECRET@\",\n  accessToken: \"@ACCESS_TOKEN@\",\n  \
                  accessSecret: \"@ACCESS_TOKEN_SECRET@\",\n});\nconsole.log(await client.v2.me());\n\
                  console.log(await client.v2.tweet(\"Hello from twitter-api-v2\"));\n",
        run: "locum run -- node bot.mjs",
        note: "",
    },
    GuideTemplate {
        id: "xdk-node",
        language: "Node",
        library: "xdk (official)",
        family: "xdk for TypeScript",
        example_agent: "xdk-typescript/0.6.6",
        install: "npm install @xdevplatform/xdk",
        file: "lookup.mjs",
        program: "import { Client } from \"@xdevplatform/xdk\";\n\n\
                  const client = new Client({ bearerToken: \"@BEARER_TOKEN@\" });\n\
                  console.log(await client.users.getByUsername(\"@USERNAME@\"));\n",
        run: "locum run -- node lookup.mjs",
        note: "",
    },
    GuideTemplate {
        id: "fetch",
        language: "Node",
        library: "fetch",
        family: "Node",
        example_agent: "node",
        install: "",
        file: "first.mjs",
        program: "const headers = { authorization: \"Bearer @USER_TOKEN@\" };\n\
                  const answer = await fetch(\"@BASE_URL@/2/users/me\", { headers });\n\
                  console.log(await answer.json());\n",
        run: "node first.mjs",
        note: "",
    },
    GuideTemplate {
        id: "java",
        language: "Java",
        library: "HttpClient of the JDK",
        family: "Java",
        example_agent: "Java-http-client/21.0.2",
        install: "",
        file: "First.java",
        program: "import java.net.URI;\nimport java.net.http.HttpClient;\nimport java.net.http.HttpRequest;\n\
                  import java.net.http.HttpResponse.BodyHandlers;\n\nclass First {\n  \
                  public static void main(String[] args) throws Exception {\n    \
                  var request = HttpRequest.newBuilder(URI.create(\"@BASE_URL@/2/users/me\"))\n        \
                  .header(\"Authorization\", \"Bearer @USER_TOKEN@\").build();\n    \
                  System.out.println(HttpClient.newHttpClient().send(request, BodyHandlers.ofString()).body());\n  }\n}\n",
        run: "java First.java",
        note: "",
    },
    GuideTemplate {
        id: "go",
        language: "Go",
        library: "net/http",
        family: "Go",
        example_agent: "Go-http-client/2.0",
        install: "",
        file: "first.go",
        program: "package main\n\nimport (\n\t\"io\"\n\t\"log\"\n\t\"net/http\"\n\t\"os\"\n)\n\nfunc main() {\n\t\
                  request, _ := http.NewRequest(\"GET\", \"@BASE_URL@/2/users/me\", nil)\n\t\
                  request.Header.Set(\"Authorization\", \"Bearer @USER_TOKEN@\")\n\t\
                  response, err := http.DefaultClient.Do(request)\n\tif err != nil {\n\t\tlog.Fatal(err)\n\t}\n\t\
                  io.Copy(os.Stdout, response.Body)\n}\n",
        run: "go run first.go",
        note: "",
    },
    GuideTemplate {
        id: "ruby",
        language: "Ruby",
        library: "net/http",
        family: "Ruby",
        example_agent: "Ruby",
        install: "",
        file: "first.rb",
        program: "require \"net/http\"\n\nheaders = { \"Authorization\" => \"Bearer @USER_TOKEN@\" }\n\
                  puts Net::HTTP.get(URI(\"@BASE_URL@/2/users/me\"), headers)\n",
        run: "ruby first.rb",
        note: "",
    },
    GuideTemplate {
        id: "twitter-gem",
        language: "Ruby",
        library: "twitter gem",
        family: "twitter gem",
        example_agent: "TwitterRubyGem/8.2.0",
        install: "gem install twitter",
        file: "bot.rb",
        program: "require \"twitter\"\n\nclient = Twitter::REST::Client.new do |config|\n  \
                  config.consumer_key = \"@API_KEY@\"\n  config.consumer_secret = \"@API_SECRET@\"\n  \
                  config.access_token = \"@ACCESS_TOKEN@\"\n  config.access_token_secret = \"@ACCESS_TOKEN_SECRET@\"\n\
                  end\nputs client.user.screen_name\n",
        run: "locum run -- ruby bot.rb",
        note: "It ignores proxy variables, so it needs the sandbox mode of locum run.",
    },
    GuideTemplate {
        id: "rust",
        language: "Rust",
        library: "reqwest, twapi-v2, twitter-v2",
        family: "Rust",
        example_agent: "reqwest/0.12",
        install: "cargo add reqwest --features blocking",
        file: "src/main.rs",
        program: "fn main() -> Result<(), reqwest::Error> {\n    \
                  let client = reqwest::blocking::Client::builder().user_agent(\"reqwest\").build()?;\n    \
                  let answer = client.get(\"@BASE_URL@/2/users/me\").bearer_auth(\"@USER_TOKEN@\").send()?;\n    \
                  println!(\"{}\", answer.text()?);\n    Ok(())\n}\n",
        run: "cargo run",
        note: "reqwest sends no User-Agent unless it is told to; requests without one are listed under Others.",
    },
    GuideTemplate {
        id: "php",
        language: "PHP",
        library: "curl extension",
        family: "PHP",
        example_agent: "PHP",
        install: "",
        file: "first.php",
        program: "<?php\n$curl = curl_init(\"@BASE_URL@/2/users/me\");\ncurl_setopt_array($curl, [\n    \
                  CURLOPT_HTTPHEADER => [\"Authorization: Bearer @USER_TOKEN@\"],\n    \
                  CURLOPT_USERAGENT => \"PHP\",\n]);\ncurl_exec($curl);\n",
        run: "php first.php",
        note: "The extension sends no User-Agent unless it is told to.",
    },
    GuideTemplate {
        id: "perl",
        language: "Perl",
        library: "Twitter::API",
        family: "Twitter::API",
        example_agent: "Twitter-API/1.0006 (Perl)",
        install: "cpanm Twitter::API",
        file: "bot.pl",
        program: "use strict;\nuse warnings;\nuse Twitter::API;\n\nmy $client = Twitter::API->new_with_traits(\n    \
                  traits              => 'ApiMethods',\n    consumer_key        => '@API_KEY@',\n    \
                  consumer_secret     => '@API_SECRET@',\n    access_token        => '@ACCESS_TOKEN@',\n    \
                  access_token_secret => '@ACCESS_TOKEN_SECRET@',\n);\n\
                  print $client->verify_credentials->{screen_name}, \"\\n\";\n",
        run: "locum run -- perl bot.pl",
        note: "",
    },
];
