// A service in Go: /items asks PostgreSQL, /plain waits for 20 ms, /metrics is client_golang's.
//
// With the header x-stall: handler, every 20th answer of /items waits for 150 ms in the handler. It reports spans if
// OTEL_EXPORTER_OTLP_ENDPOINT is set.
package main

import (
	"context"
	"fmt"
	"log"
	"net"
	"net/http"
	"os"
	"sync/atomic"
	"time"

	"github.com/exaring/otelpgx"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"go.opentelemetry.io/contrib/instrumentation/net/http/otelhttp"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/sdk/trace"
)

var (
	asked   atomic.Int64
	pool    *pgxpool.Pool
	seconds = promauto.NewHistogramVec(prometheus.HistogramOpts{
		Name: "http_request_duration_seconds", Help: "Time of a request",
		Buckets: []float64{0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5},
	}, []string{"path"})
)

func items(w http.ResponseWriter, r *http.Request) {
	number := asked.Add(1)
	if r.Header.Get("x-stall") == "handler" && number%20 == 0 {
		time.Sleep(150 * time.Millisecond)
	}
	var name string
	if err := pool.QueryRow(r.Context(), "SELECT name FROM items WHERE id = $1", 1+number%10).Scan(&name); err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	fmt.Fprint(w, name)
}

func plain(w http.ResponseWriter, r *http.Request) {
	time.Sleep(20 * time.Millisecond)
	fmt.Fprint(w, "plain")
}

func timed(path string, handler http.HandlerFunc) {
	http.Handle(path, otelhttp.NewHandler(promhttp.InstrumentHandlerDuration(
		seconds.MustCurryWith(prometheus.Labels{"path": path}), handler), "GET "+path))
}

func traced(ctx context.Context) error {
	exporter, err := otlptracehttp.New(ctx)
	if err != nil {
		return err
	}
	otel.SetTracerProvider(trace.NewTracerProvider(trace.WithBatcher(exporter)))
	otel.SetTextMapPropagator(propagation.TraceContext{})
	return nil
}

func connected(ctx context.Context, address string) error {
	config, err := pgxpool.ParseConfig(address)
	if err != nil {
		return err
	}
	config.MinConns, config.MaxConns = 100, 100
	config.ConnConfig.Tracer = otelpgx.NewTracer()
	if pool, err = pgxpool.NewWithConfig(ctx, config); err != nil {
		return err
	}
	for pool.Stat().TotalConns() < 100 {
		time.Sleep(20 * time.Millisecond)
	}
	return nil
}

func main() {
	ctx := context.Background()
	if os.Getenv("OTEL_EXPORTER_OTLP_ENDPOINT") != "" {
		if err := traced(ctx); err != nil {
			log.Fatal(err)
		}
	}
	if address := os.Getenv("DATABASE"); address != "" {
		if err := connected(ctx, address); err != nil {
			log.Fatal(err)
		}
	}
	timed("/items", items)
	timed("/plain", plain)
	http.Handle("/metrics", promhttp.Handler())
	port := os.Getenv("PORT")
	if port == "" {
		port = "0"
	}
	listener, err := net.Listen("tcp", "127.0.0.1:"+port)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("http://" + listener.Addr().String())
	log.Fatal(http.Serve(listener, nil))
}
