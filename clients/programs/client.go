// Reads with the standard library of Go.
package main

import (
	"fmt"
	"io"
	"log"
	"net/http"
	"os"
	"strings"
)

func main() {
	request, err := http.NewRequest("GET", "https://api.twitter.com/2/users/me", nil)
	if err != nil {
		log.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer "+os.Getenv("LOCUM_USER_TOKEN"))
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		log.Fatal(err)
	}
	body, err := io.ReadAll(response.Body)
	if err != nil || !strings.Contains(string(body), os.Getenv("LOCUM_USER_ID")) {
		log.Fatal(string(body), err)
	}
	fmt.Println("done")
}
