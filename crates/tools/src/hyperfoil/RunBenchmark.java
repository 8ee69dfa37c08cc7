import io.hyperfoil.api.config.Benchmark;
import io.hyperfoil.api.statistics.StatisticsSnapshot;
import io.hyperfoil.core.impl.LocalBenchmarkData;
import io.hyperfoil.core.impl.LocalSimulationRunner;
import io.hyperfoil.core.parser.BenchmarkParser;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.StringJoiner;

/**
 * Runs a Hyperfoil benchmark in this process and writes what it counted: RunBenchmark BENCHMARK.yaml RESULT.json. The
 * plugin for Maven would do, but prints no more than a few percentiles.
 */
public final class RunBenchmark {
    private RunBenchmark() {}

    public static void main(String[] args) throws Exception {
        StatisticsSnapshot total = new StatisticsSnapshot();
        var runner = new LocalSimulationRunner(
                read(Path.of(args[0])),
                (phase, step, metric, seconds, countDown) -> {
                    synchronized (total) {
                        total.add(seconds);
                    }
                },
                null,
                null);
        runner.run();
        synchronized (total) {
            Files.writeString(Path.of(args[1]), asJson(total));
        }
        // Threads of its event loops would keep the process for a while.
        System.exit(0);
    }

    private static Benchmark read(Path file) throws Exception {
        try (InputStream text = Files.newInputStream(file)) {
            return BenchmarkParser.instance().buildBenchmark(text, new LocalBenchmarkData(file), Map.of());
        }
    }

    /** Each bucket as its highest value, which is what Hyperfoil's own percentiles are, and its count. */
    private static String asJson(StatisticsSnapshot total) throws IOException {
        StringJoiner buckets = new StringJoiner(",\n", "[", "]");
        for (var bucket : total.histogram.recordedValues()) {
            buckets.add("[" + bucket.getValueIteratedTo() + "," + bucket.getCountAtValueIteratedTo() + "]");
        }
        StringJoiner fields = new StringJoiner(",\n", "{", "}\n");
        fields.add("\"format\":\"truetail.hyperfoil/1\"");
        fields.add("\"hyperfoil\":\"" + version() + "\"");
        fields.add("\"requests\":" + total.requestCount);
        fields.add("\"responses\":" + total.responseCount);
        fields.add("\"invalid\":" + total.invalid);
        fields.add("\"connection_errors\":" + total.connectionErrors);
        fields.add("\"timeouts\":" + total.requestTimeouts);
        fields.add("\"internal_errors\":" + total.internalErrors);
        fields.add("\"blocked_ns\":" + total.blockedTime);
        fields.add("\"mean_ns\":" + Math.round(total.histogram.getMean()));
        fields.add("\"buckets_ns\":" + buckets);
        return fields.toString();
    }

    /** By the name of its jar: Hyperfoil has no version that a program can ask for. */
    private static String version() {
        String jar = Path.of(Benchmark.class.getProtectionDomain().getCodeSource().getLocation().getPath())
                .getFileName()
                .toString();
        return jar.replaceFirst("^hyperfoil-api-", "").replaceFirst("\\.jar$", "");
    }
}
