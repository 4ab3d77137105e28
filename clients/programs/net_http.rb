# Reads with the standard library of Ruby.
require "net/http"

headers = { "Authorization" => "Bearer #{ENV.fetch("LOCUM_USER_TOKEN")}" }
body = Net::HTTP.get(URI("https://api.twitter.com/2/users/me"), headers)
raise body unless body.include?(ENV.fetch("LOCUM_USER_ID"))
puts "done"
