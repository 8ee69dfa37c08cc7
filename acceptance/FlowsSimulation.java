import static io.gatling.javaapi.core.CoreDsl.StringBody;
import static io.gatling.javaapi.core.CoreDsl.bodyString;
import static io.gatling.javaapi.core.CoreDsl.constantUsersPerSec;
import static io.gatling.javaapi.core.CoreDsl.exec;
import static io.gatling.javaapi.core.CoreDsl.scenario;
import static io.gatling.javaapi.http.HttpDsl.http;
import static io.gatling.javaapi.http.HttpDsl.status;

import io.gatling.javaapi.core.ChainBuilder;
import io.gatling.javaapi.core.Simulation;
import java.time.Duration;

/** The flow of scenarios/07-login-that-stalls/shop.hurl, for acceptance/flows.py; `host` is a system property. */
public class FlowsSimulation extends Simulation {
    public FlowsSimulation() {
        // The warm-up is a request to a server in the Internet.
        var shop = http.baseUrl(System.getProperty("host")).disableWarmUp();
        var sessions = scenario("shop").group("session").on(flow());
        setUp(sessions.injectOpen(constantUsersPerSec(50).during(60)).protocols(shop));
    }

    private static ChainBuilder flow() {
        var login = http("login").post("/login").formParam("user", "ann");
        var list = http("list").get("/items").header("Authorization", "Bearer #{token}");
        var buy = http("buy").post("/orders").header("Authorization", "Bearer #{token}");
        return exec(login.check(status().is(200), bodyString().saveAs("token")))
            .exitHereIfFailed()
            .pause(Duration.ofMillis(500))
            .exec(list.check(status().is(200)))
            .pause(Duration.ofSeconds(1))
            .exec(buy.header("Content-Type", "application/json").body(StringBody("{\"item\": 7}")).check(status().is(200)));
    }
}
