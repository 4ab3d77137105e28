# Verifies its credentials with the twitter gem, which uses version 1.1 of the API.
require "twitter"

client = Twitter::REST::Client.new do |config|
  config.consumer_key = ENV.fetch("LOCUM_API_KEY")
  config.consumer_secret = ENV.fetch("LOCUM_API_SECRET")
  config.access_token = ENV.fetch("LOCUM_ACCESS_TOKEN")
  config.access_token_secret = ENV.fetch("LOCUM_ACCESS_TOKEN_SECRET")
end
raise client.user.screen_name unless client.user.screen_name == ENV.fetch("LOCUM_USERNAME")
puts "done"
