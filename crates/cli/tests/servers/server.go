// The server of Go's standard library, which answers as asked.rs expects:
//
//	server LOG CERTIFICATE KEY MOST
//
// says its origins in one line, writes "METHOD PATH STATUS CLIENT-PORT" to LOG for each answer, and closes a connection
// after MOST requests, where that is not 0. SIGTERM ends it.
package main

import (
	"context"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
)

const large = 200_000

// The key of a connection's count of requests.
type onThis struct{}

// An answer that remembers its status.
type answer struct {
	http.ResponseWriter
	status int
}

func (a *answer) WriteHeader(status int) {
	a.status = status
	a.ResponseWriter.WriteHeader(status)
}

func (a *answer) Unwrap() http.ResponseWriter {
	return a.ResponseWriter
}

func give(w http.ResponseWriter, r *http.Request) {
	switch r.URL.Path {
	case "/sized":
		io.WriteString(w, "hello\n")
	case "/large":
		w.Header().Set("Content-Length", strconv.Itoa(large))
		io.WriteString(w, strings.Repeat("x", large))
	case "/chunked":
		io.WriteString(w, "one, ")
		http.NewResponseController(w).Flush()
		io.WriteString(w, "two\n")
	case "/posted":
		io.Copy(io.Discard, r.Body)
		w.WriteHeader(http.StatusCreated)
		io.WriteString(w, "made\n")
	case "/empty":
		w.WriteHeader(http.StatusNoContent)
	case "/moved":
		http.Redirect(w, r, "/sized", http.StatusFound)
	case "/same":
		if r.Header.Get("If-None-Match") == "*" {
			w.WriteHeader(http.StatusNotModified)
		}
	case "/broken":
		http.Error(w, "broken", http.StatusInternalServerError)
	default:
		http.NotFound(w, r)
	}
}

func listen() net.Listener {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	return listener
}

func main() {
	logName, certificate, key := os.Args[1], os.Args[2], os.Args[3]
	most, err := strconv.ParseInt(os.Args[4], 10, 64)
	if err != nil {
		log.Fatal(err)
	}
	access, err := os.OpenFile(logName, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		log.Fatal(err)
	}
	server := &http.Server{
		Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			count := r.Context().Value(onThis{}).(*atomic.Int64).Add(1)
			if most > 0 && count >= most {
				w.Header().Set("Connection", "close")
			}
			a := &answer{w, http.StatusOK}
			give(a, r)
			_, port, _ := net.SplitHostPort(r.RemoteAddr)
			fmt.Fprintf(access, "%s %s %d %s\n", r.Method, r.URL.Path, a.status, port)
		}),
		ConnContext: func(ctx context.Context, _ net.Conn) context.Context {
			return context.WithValue(ctx, onThis{}, new(atomic.Int64))
		},
	}
	server.Protocols = new(http.Protocols)
	server.Protocols.SetHTTP1(true)
	server.Protocols.SetHTTP2(true)
	server.Protocols.SetUnencryptedHTTP2(true)
	plain, secured := listen(), listen()
	go server.Serve(plain)
	go server.ServeTLS(secured, certificate, key)
	fmt.Printf("http=http://%[1]s h2c=http://%[1]s https=https://%[2]s h2=https://%[2]s\n", plain.Addr(), secured.Addr())
	end := make(chan os.Signal, 1)
	signal.Notify(end, syscall.SIGTERM)
	<-end
	server.Shutdown(context.Background())
}
