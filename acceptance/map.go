// An HTTP server that keeps a map and does a little work on it for each request: go run map.go -lock. With -lock the work is done
// under one lock around the map, as when somebody guards too much; without, under a lock of a few nanoseconds. It prints its
// address.
package main

import (
	"flag"
	"fmt"
	"net"
	"net/http"
	"os"
	"sync"
	"time"
)

func main() {
	lock := flag.Bool("lock", false, "hold the lock while working")
	work := flag.Duration("work", time.Millisecond, "what a request takes besides the lock")
	flag.Parse()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Printf("http://%s\n", listener.Addr())
	var guard sync.Mutex
	seen := map[string]int{}
	err = http.Serve(listener, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		guard.Lock()
		seen[r.URL.Path]++
		count := seen[r.URL.Path]
		if *lock {
			time.Sleep(*work)
			guard.Unlock()
		} else {
			guard.Unlock()
			time.Sleep(*work)
		}
		fmt.Fprintln(w, count)
	}))
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}
