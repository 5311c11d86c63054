package main

import (
	"encoding/json"
	"errors"
	"net"
	"os"
	"os/signal"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/health"
	"google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/reflection"
	"google.golang.org/grpc/status"

	pb "shepherd.example/notes_agent/gibson"
)

const shutdownDeadline = 5 * time.Second

var traceparent = regexp.MustCompile(`^00-([0-9a-f]{32})-[0-9a-f]{16}-[0-9a-f]{2}$`)

type service struct {
	pb.UnimplementedAgentServiceServer
	work func(*Run) error

	mu   sync.Mutex
	runs map[*Run]bool
}

// traceOf continues the caller's trace, or begins one.
func traceOf(stream grpc.ServerStream) string {
	headers, _ := metadata.FromIncomingContext(stream.Context())
	for _, value := range headers.Get("traceparent") {
		if found := traceparent.FindStringSubmatch(value); found != nil && strings.Trim(found[1], "0") != "" {
			return found[1]
		}
	}
	return randomHex(16)
}

func (s *service) StreamExecute(stream pb.AgentService_StreamExecuteServer) error {
	first, err := stream.Recv()
	if err != nil || first.GetStart() == nil {
		return status.Error(codes.InvalidArgument, "the first message must be start")
	}
	var task struct{ Goal string }
	if err := json.Unmarshal([]byte(first.GetStart().TaskJson), &task); err != nil {
		return status.Errorf(codes.InvalidArgument, "task_json is not a JSON object: %v", err)
	}
	interactive := first.GetStart().InitialMode == pb.AgentMode_AGENT_MODE_INTERACTIVE
	run := newRun(task.Goal, traceOf(stream), interactive)
	s.add(run)
	defer s.remove(run)

	go func() { // ends when the stream does
		for {
			message, err := stream.Recv()
			if err != nil {
				run.callerClosed()
				return
			}
			run.hear(message)
		}
	}()
	go s.workOn(run)
	for {
		select {
		case message := <-run.outgoing:
			if err := stream.Send(message); err != nil {
				run.end(pb.AgentStatus_AGENT_STATUS_INTERRUPTED, "the caller is gone")
				return err
			}
		case <-stream.Context().Done():
			run.end(pb.AgentStatus_AGENT_STATUS_INTERRUPTED, "cancelled")
			return stream.Context().Err()
		case <-run.done:
			return sendRest(stream, run)
		}
	}
}

// sendRest sends what was queued before the end.
func sendRest(stream pb.AgentService_StreamExecuteServer, run *Run) error {
	for {
		select {
		case message := <-run.outgoing:
			if err := stream.Send(message); err != nil {
				return err
			}
		default:
			return nil
		}
	}
}

func (s *service) workOn(run *Run) {
	err := s.work(run)
	if err == nil {
		_, err = run.checkpoint() // an interrupt that came last is honoured
	}
	switch {
	case err == nil:
		run.end(pb.AgentStatus_AGENT_STATUS_COMPLETED, "completed")
	case !errors.Is(err, errStopped):
		run.fail(err)
	}
}

func (s *service) add(run *Run) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.runs[run] = true
}

func (s *service) remove(run *Run) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.runs, run)
}

func (s *service) stopAll() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for run := range s.runs {
		run.end(pb.AgentStatus_AGENT_STATUS_INTERRUPTED, "the agent is shutting down")
	}
}

// serve answers until SIGTERM or SIGINT; then running streams are told, and the server ends.
func serve(address string, work func(*Run) error) error {
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return err
	}
	agent := &service{work: work, runs: map[*Run]bool{}}
	server := grpc.NewServer()
	pb.RegisterAgentServiceServer(server, agent)
	state := health.NewServer()
	state.SetServingStatus(pb.AgentService_ServiceDesc.ServiceName, grpc_health_v1.HealthCheckResponse_SERVING)
	grpc_health_v1.RegisterHealthServer(server, state)
	reflection.Register(server)

	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGTERM, syscall.SIGINT)
	go func() {
		<-signals
		state.Shutdown()
		agent.stopAll()
		time.AfterFunc(shutdownDeadline, server.Stop)
		server.GracefulStop()
	}()
	return server.Serve(listener)
}
