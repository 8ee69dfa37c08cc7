import static io.gatling.javaapi.core.CoreDsl.constantUsersPerSec;
import static io.gatling.javaapi.core.CoreDsl.scenario;
import static io.gatling.javaapi.http.HttpDsl.http;

import io.gatling.javaapi.core.Simulation;
import java.time.Duration;

/** One GET for each arrival: `url`, `rate` (arrivals a second) and `duration_ms` are system properties. */
public class LoadSimulation extends Simulation {
    public LoadSimulation() {
        double rate = Double.parseDouble(System.getProperty("rate"));
        Duration duration = Duration.ofMillis(Long.getLong("duration_ms"));
        var request = http("request").get(System.getProperty("url"));
        // Without shared connections each arrival would open one of its own.
        var protocol = http.disableWarmUp().disableFollowRedirect().shareConnections();
        setUp(scenario("load").exec(request).injectOpen(constantUsersPerSec(rate).during(duration)).protocols(protocol));
    }
}
