// A WebSocket echo with a known truth: it answers nothing during one stall, and counts its messages and their bytes.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/signal"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/gorilla/websocket"
)

// countingListener counts the bytes that its connections receive.
type countingListener struct {
	net.Listener
	bytes atomic.Int64
}

type countingConn struct {
	net.Conn
	bytes *atomic.Int64
}

func (l *countingListener) Accept() (net.Conn, error) {
	conn, err := l.Listener.Accept()
	return countingConn{conn, &l.bytes}, err
}

func (c countingConn) Read(buffer []byte) (int, error) {
	n, err := c.Conn.Read(buffer)
	c.bytes.Add(int64(n))
	return n, err
}

type server struct {
	lock     sync.Mutex
	begun    time.Time
	messages int
	channels int
	stallAt  time.Duration
	stallFor time.Duration
	deflate  bool
}

// count notes a message, and returns when the stall that it came in ends, if any. The clock starts at the first message.
func (s *server) count() time.Time {
	now := time.Now()
	s.lock.Lock()
	defer s.lock.Unlock()
	if s.messages == 0 {
		s.begun = now
	}
	s.messages++
	since := now.Sub(s.begun)
	if since < s.stallAt || since >= s.stallAt+s.stallFor {
		return now
	}
	return s.begun.Add(s.stallAt + s.stallFor)
}

func (s *server) echo(w http.ResponseWriter, r *http.Request) {
	upgrader := websocket.Upgrader{EnableCompression: s.deflate}
	channel, err := upgrader.Upgrade(w, r, nil)
	if err != nil {
		return
	}
	defer channel.Close()
	s.lock.Lock()
	s.channels++
	s.lock.Unlock()
	for {
		kind, message, err := channel.ReadMessage()
		if err != nil {
			return
		}
		time.Sleep(time.Until(s.count()))
		if channel.WriteMessage(kind, message) != nil {
			return
		}
	}
}

func main() {
	listen := flag.String("listen", "127.0.0.1:0", "")
	s := &server{}
	flag.DurationVar(&s.stallAt, "stall-at", 3*time.Second, "")
	flag.DurationVar(&s.stallFor, "stall-for", 0, "")
	flag.BoolVar(&s.deflate, "deflate", false, "")
	flag.Parse()
	socket, err := net.Listen("tcp", *listen)
	if err != nil {
		panic(err)
	}
	listener := &countingListener{Listener: socket}
	fmt.Println(listener.Addr())
	go http.Serve(listener, http.HandlerFunc(s.echo))
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGTERM, os.Interrupt)
	<-signals
	s.lock.Lock()
	defer s.lock.Unlock()
	json.NewEncoder(os.Stdout).Encode(map[string]any{"messages": s.messages, "channels": s.channels, "bytes": listener.bytes.Load()})
}
