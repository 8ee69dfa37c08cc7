// A gRPC server with a known truth: it stalls once, fails every nth call, and counts its calls and the messages of streams.
package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"

	"google.golang.org/genproto/googleapis/rpc/code"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/encoding/gzip"
	"google.golang.org/grpc/keepalive"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/reflection"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/descriptorpb"
	"google.golang.org/protobuf/types/dynamicpb"
)

func describe() protoreflect.FileDescriptor {
	text := func(name string, number int32) *descriptorpb.FieldDescriptorProto {
		return &descriptorpb.FieldDescriptorProto{
			Name: proto.String(name), JsonName: proto.String(name), Number: proto.Int32(number),
			Label: descriptorpb.FieldDescriptorProto_LABEL_OPTIONAL.Enum(),
			Type:  descriptorpb.FieldDescriptorProto_TYPE_STRING.Enum(),
		}
	}
	number := text("count", 2)
	number.Type = descriptorpb.FieldDescriptorProto_TYPE_INT32.Enum()
	method := func(name string, client, server bool) *descriptorpb.MethodDescriptorProto {
		return &descriptorpb.MethodDescriptorProto{
			Name: proto.String(name), InputType: proto.String(".truth.HelloRequest"), OutputType: proto.String(".truth.HelloReply"),
			ClientStreaming: proto.Bool(client), ServerStreaming: proto.Bool(server),
		}
	}
	file := &descriptorpb.FileDescriptorProto{
		Name: proto.String("truth.proto"), Package: proto.String("truth"), Syntax: proto.String("proto3"),
		MessageType: []*descriptorpb.DescriptorProto{
			{Name: proto.String("HelloRequest"), Field: []*descriptorpb.FieldDescriptorProto{text("name", 1), number}},
			{Name: proto.String("HelloReply"), Field: []*descriptorpb.FieldDescriptorProto{text("message", 1)}},
		},
		Service: []*descriptorpb.ServiceDescriptorProto{{
			Name: proto.String("Greeter"),
			Method: []*descriptorpb.MethodDescriptorProto{
				method("SayHello", false, false), method("SayMany", false, true),
				method("Collect", true, false), method("Chat", true, true), method("Early", true, true),
			},
		}},
	}
	made, err := protodesc.NewFile(file, nil)
	if err != nil {
		panic(err)
	}
	if err := protoregistry.GlobalFiles.RegisterFile(made); err != nil {
		panic(err)
	}
	return made
}

type server struct {
	lock      sync.Mutex
	begun     time.Time
	calls     int
	open      int
	mostOpen  int
	counts    map[string]int
	received  int
	sent      int
	seen      []float64
	stallAt   time.Duration
	stallFor  time.Duration
	failEvery int
	gap       time.Duration
	gzip      string
	request   protoreflect.MessageDescriptor
	reply     protoreflect.MessageDescriptor
}

func (s *server) enter(ctx context.Context) (int, time.Time) {
	now := time.Now()
	s.lock.Lock()
	defer s.lock.Unlock()
	if md, _ := metadata.FromIncomingContext(ctx); len(md.Get("truetail-preflight")) > 0 {
		return -1, now
	}
	if s.calls == 0 {
		s.begun = now
	}
	s.calls++
	s.open++
	s.mostOpen = max(s.mostOpen, s.open)
	return s.calls, now
}

func (s *server) stall() {
	s.lock.Lock()
	begun := s.begun
	s.lock.Unlock()
	if begun.IsZero() {
		return
	}
	since := time.Since(begun)
	if since >= s.stallAt && since < s.stallAt+s.stallFor {
		time.Sleep(s.stallAt + s.stallFor - since)
	}
}

func (s *server) leave(number int, entered time.Time, err error) error {
	s.lock.Lock()
	defer s.lock.Unlock()
	if number > 0 {
		s.open--
		s.counts[code.Code(status.Code(err)).String()]++
		s.seen = append(s.seen, time.Since(entered).Seconds())
	}
	return err
}

func (s *server) answer(name string) *dynamicpb.Message {
	reply := dynamicpb.NewMessage(s.reply)
	reply.Set(s.reply.Fields().ByName("message"), protoreflect.ValueOfString("hello "+name))
	return reply
}

func (s *server) fails(number int) error {
	if s.failEvery > 0 && number > 0 && number%s.failEvery == 0 {
		return status.Error(codes.Unavailable, "no room, 100% full")
	}
	return nil
}

func unary(srv any, ctx context.Context, dec func(any) error, _ grpc.UnaryServerInterceptor) (any, error) {
	s := srv.(*server)
	in := dynamicpb.NewMessage(s.request)
	if err := dec(in); err != nil {
		return nil, err
	}
	if s.gzip != "" {
		grpc.SetSendCompressor(ctx, gzip.Name)
	}
	number, entered := s.enter(ctx)
	s.stall()
	time.Sleep(s.gap)
	if err := s.leave(number, entered, s.fails(number)); err != nil {
		return nil, err
	}
	return s.answer(in.Get(s.request.Fields().ByName("name")).String()), nil
}

func many(srv any, stream grpc.ServerStream) error {
	s := srv.(*server)
	in := dynamicpb.NewMessage(s.request)
	if err := stream.RecvMsg(in); err != nil {
		return err
	}
	number, entered := s.enter(stream.Context())
	s.stall()
	for range in.Get(s.request.Fields().ByName("count")).Int() {
		if err := s.send(stream, number, in.Get(s.request.Fields().ByName("name")).String()); err != nil {
			return s.leave(number, entered, err)
		}
		time.Sleep(s.gap)
	}
	return s.leave(number, entered, s.fails(number))
}

// collect answers when the client has ended its stream, with the number of its messages.
func collect(srv any, stream grpc.ServerStream) error {
	s := srv.(*server)
	number, entered := s.enter(stream.Context())
	s.stall()
	names, err := s.receive(stream, number, func(string) error { return nil })
	if err == nil {
		err = s.fails(number)
	}
	if err == nil {
		err = s.send(stream, number, fmt.Sprint(names))
	}
	return s.leave(number, entered, err)
}

// chat answers each message as it comes, unless it stalls.
func chat(srv any, stream grpc.ServerStream) error {
	s := srv.(*server)
	number, entered := s.enter(stream.Context())
	_, err := s.receive(stream, number, func(name string) error {
		s.stall()
		return s.send(stream, number, name)
	})
	if err == nil {
		err = s.fails(number)
	}
	return s.leave(number, entered, err)
}

// early ends each call at its first message, though the client has more.
func early(srv any, stream grpc.ServerStream) error {
	s := srv.(*server)
	number, entered := s.enter(stream.Context())
	if err := stream.RecvMsg(dynamicpb.NewMessage(s.request)); err != nil {
		return s.leave(number, entered, err)
	}
	return s.leave(number, entered, status.Error(codes.ResourceExhausted, "one is enough"))
}

// receive reads all messages of a client, tells the name of each, and returns their number.
func (s *server) receive(stream grpc.ServerStream, number int, tell func(string) error) (int, error) {
	for names := 0; ; names++ {
		in := dynamicpb.NewMessage(s.request)
		if err := stream.RecvMsg(in); err == io.EOF {
			return names, nil
		} else if err != nil {
			return names, err
		}
		s.count(number, &s.received)
		if err := tell(in.Get(s.request.Fields().ByName("name")).String()); err != nil {
			return names, err
		}
	}
}

func (s *server) send(stream grpc.ServerStream, number int, name string) error {
	s.count(number, &s.sent)
	return stream.SendMsg(s.answer(name))
}

func (s *server) count(number int, messages *int) {
	s.lock.Lock()
	defer s.lock.Unlock()
	if number > 0 {
		*messages++
	}
}

// options of the connections: zero and empty stand for the defaults of grpc-go.
func options(certificate, key, authority string, streams int, age, alive time.Duration) []grpc.ServerOption {
	all := []grpc.ServerOption{
		grpc.KeepaliveParams(keepalive.ServerParameters{MaxConnectionAge: age, Time: alive, Timeout: 500 * time.Millisecond}),
	}
	if streams > 0 {
		all = append(all, grpc.MaxConcurrentStreams(uint32(streams)))
	}
	if certificate != "" {
		pair, err := tls.LoadX509KeyPair(certificate, key)
		if err != nil {
			panic(err)
		}
		config := &tls.Config{Certificates: []tls.Certificate{pair}}
		if authority != "" {
			text, err := os.ReadFile(authority)
			if err != nil {
				panic(err)
			}
			config.ClientCAs, config.ClientAuth = x509.NewCertPool(), tls.RequireAndVerifyClientCert
			config.ClientCAs.AppendCertsFromPEM(text)
		}
		all = append(all, grpc.Creds(credentials.NewTLS(config)))
	}
	return all
}

func main() {
	listen := flag.String("listen", "127.0.0.1:50051", "")
	s := &server{counts: map[string]int{}}
	flag.DurationVar(&s.stallAt, "stall-at", 3*time.Second, "")
	flag.DurationVar(&s.stallFor, "stall-for", 0, "")
	flag.IntVar(&s.failEvery, "fail-every", 0, "")
	flag.DurationVar(&s.gap, "gap", 0, "")
	flag.StringVar(&s.gzip, "gzip", "", "any value compresses the answers of unary calls")
	reflect := flag.Bool("reflection", true, "")
	certificate, key, authority := flag.String("cert", "", ""), flag.String("key", "", ""), flag.String("client-ca", "", "")
	streams, age := flag.Int("max-streams", 0, ""), flag.Duration("max-age", 0, "")
	alive := flag.Duration("keepalive", 0, "")
	flag.Parse()
	file := describe()
	s.request, s.reply = file.Messages().ByName("HelloRequest"), file.Messages().ByName("HelloReply")
	made := grpc.NewServer(options(*certificate, *key, *authority, *streams, *age, *alive)...)
	made.RegisterService(&grpc.ServiceDesc{
		ServiceName: "truth.Greeter", HandlerType: (*any)(nil), Metadata: "truth.proto",
		Methods: []grpc.MethodDesc{{MethodName: "SayHello", Handler: unary}},
		Streams: []grpc.StreamDesc{
			{StreamName: "SayMany", Handler: many, ServerStreams: true},
			{StreamName: "Collect", Handler: collect, ClientStreams: true},
			{StreamName: "Chat", Handler: chat, ServerStreams: true, ClientStreams: true},
			{StreamName: "Early", Handler: early, ServerStreams: true, ClientStreams: true},
		},
	}, s)
	if *reflect {
		reflection.Register(made)
	}
	listener, err := net.Listen("tcp", *listen)
	if err != nil {
		panic(err)
	}
	fmt.Println(listener.Addr())
	go func() {
		signals := make(chan os.Signal, 1)
		signal.Notify(signals, syscall.SIGTERM, os.Interrupt)
		<-signals
		made.Stop()
	}()
	if err := made.Serve(listener); err != nil {
		panic(err)
	}
	s.lock.Lock()
	defer s.lock.Unlock()
	json.NewEncoder(os.Stdout).Encode(map[string]any{
		"calls": s.calls, "counts": s.counts, "received": s.received, "sent": s.sent, "most_open": s.mostOpen,
	})
}
