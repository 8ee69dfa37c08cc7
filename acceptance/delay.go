// An HTTP server that answers each request after the same time: go run delay.go -delay 2ms. It prints its address.
package main

import (
	"flag"
	"fmt"
	"net"
	"net/http"
	"os"
	"time"
)

func main() {
	delay := flag.Duration("delay", 2*time.Millisecond, "time from a request to its answer")
	listen := flag.String("listen", "127.0.0.1:0", "address to listen on")
	flag.Parse()
	listener, err := net.Listen("tcp", *listen)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Printf("http://%s\n", listener.Addr())
	err = http.Serve(listener, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if *delay > 0 {
			time.Sleep(*delay)
		}
		fmt.Fprintln(w, "ok")
	}))
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}
