import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;

/** Reads with the client of the JDK. */
class Client {
  public static void main(String[] args) throws Exception {
    var request = HttpRequest.newBuilder(URI.create("https://api.x.com/2/users/me"))
        .header("Authorization", "Bearer " + System.getenv("LOCUM_USER_TOKEN"))
        .build();
    var response = HttpClient.newHttpClient().send(request, BodyHandlers.ofString());
    if (!response.body().contains(System.getenv("LOCUM_USER_ID"))) {
      throw new IllegalStateException(response.body());
    }
    System.out.println("done");
  }
}
