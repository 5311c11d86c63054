package main

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"sync"
	"time"

	pb "shepherd.example/notes_agent/gibson"
)

// What the library for C++ does for an agent, in small. Every call that sends or waits is also a place where the work can be
// interrupted; it returns errStopped when the stream is over.
var errStopped = errors.New("the stream is over")

const (
	sendDeadline = 5 * time.Second
	sendQueue    = 64
)

// Run is one stream's conversation with the operator.
type Run struct {
	Goal string

	traceID, spanID string
	outgoing        chan *pb.AgentMessage
	done            chan struct{} // closed when the stream has ended
	changed         chan struct{} // a token: something the work may wait for has changed

	mu          sync.Mutex // guards what follows
	sequence    int64
	words       []string
	interactive bool
	interrupted bool
	resumed     bool
	halfClosed  bool
	ended       bool
	reason      string
}

func randomHex(bytes int) string {
	raw := make([]byte, bytes)
	if _, err := rand.Read(raw); err != nil {
		panic(err) // there is no randomness on this machine
	}
	return hex.EncodeToString(raw)
}

func newRun(goal, traceID string, interactive bool) *Run {
	run := &Run{
		Goal: goal, traceID: traceID, spanID: randomHex(8), interactive: interactive,
		outgoing: make(chan *pb.AgentMessage, sendQueue), done: make(chan struct{}), changed: make(chan struct{}, 1),
	}
	run.put(statusMessage(pb.AgentStatus_AGENT_STATUS_RUNNING, "started"))
	return run
}

func statusMessage(status pb.AgentStatus, text string) *pb.AgentMessage {
	return &pb.AgentMessage{Payload: &pb.AgentMessage_Status{Status: &pb.StatusChange{Status: status, Message: text}}}
}

// put numbers a message and queues it; the lock is held over both, so that numbers are in the order of sending.
func (r *Run) put(message *pb.AgentMessage) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.putLocked(message)
}

func (r *Run) putLocked(message *pb.AgentMessage) error {
	if r.ended {
		return errStopped
	}
	message.TraceId, message.SpanId = r.traceID, r.spanID
	message.Sequence = r.sequence + 1
	message.TimestampMs = time.Now().UnixMilli()
	select {
	case r.outgoing <- message:
	case <-time.After(sendDeadline):
		r.endLocked()
		return errStopped
	}
	r.sequence++
	return nil
}

func (r *Run) endLocked() {
	if !r.ended {
		r.ended = true
		close(r.done)
	}
}

// end sends the last status; nothing is sent after it.
func (r *Run) end(status pb.AgentStatus, text string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.putLocked(statusMessage(status, text)) == nil {
		r.endLocked()
	}
}

func (r *Run) fail(problem error) {
	r.put(&pb.AgentMessage{Payload: &pb.AgentMessage_Error{
		Error: &pb.ErrorEvent{Code: "WORK_FAILED", Message: problem.Error(), Fatal: true}}})
	r.end(pb.AgentStatus_AGENT_STATUS_FAILED, problem.Error())
}

func (r *Run) notify() {
	select {
	case r.changed <- struct{}{}:
	default:
	}
}

// hear takes a message of the caller.
func (r *Run) hear(message *pb.ClientMessage) {
	r.mu.Lock()
	switch payload := message.Payload.(type) {
	case *pb.ClientMessage_Steering:
		r.words = append(r.words, payload.Steering.Content)
		r.putLocked(&pb.AgentMessage{Payload: &pb.AgentMessage_SteeringAck{SteeringAck: &pb.SteeringAck{
			MessageId: payload.Steering.Id, Response: "acknowledged: " + payload.Steering.Content}}})
	case *pb.ClientMessage_Interrupt:
		r.interrupted, r.resumed, r.reason = true, false, payload.Interrupt.Reason
	case *pb.ClientMessage_Resume:
		r.resumed = r.interrupted
		if payload.Resume.Guidance != "" {
			r.words = append(r.words, payload.Resume.Guidance)
		}
	case *pb.ClientMessage_SetMode:
		r.interactive = payload.SetMode.Mode == pb.AgentMode_AGENT_MODE_INTERACTIVE
	}
	r.mu.Unlock()
	r.notify()
}

func (r *Run) callerClosed() {
	r.mu.Lock()
	r.halfClosed = true
	r.mu.Unlock()
	r.notify()
}

// await waits until the condition holds, the time is over (0: no limit) or the stream has ended.
func (r *Run) await(limit time.Duration, condition func() bool) error {
	var timeout <-chan time.Time
	if limit > 0 {
		timer := time.NewTimer(limit)
		defer timer.Stop()
		timeout = timer.C
	}
	for {
		r.mu.Lock()
		holds, ended := condition(), r.ended
		r.mu.Unlock()
		if ended {
			return errStopped
		}
		if holds {
			return nil
		}
		select {
		case <-r.changed:
		case <-timeout:
			return nil
		case <-r.done:
		}
	}
}

// checkpoint waits while the work is interrupted. True when it was.
func (r *Run) checkpoint() (bool, error) {
	r.mu.Lock()
	interrupted, reason, ended := r.interrupted, r.reason, r.ended
	r.mu.Unlock()
	if ended {
		return false, errStopped
	}
	if !interrupted {
		return false, nil
	}
	r.put(statusMessage(pb.AgentStatus_AGENT_STATUS_INTERRUPTED, reason))
	if err := r.await(0, func() bool { return r.resumed || r.halfClosed }); err != nil {
		return true, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.resumed { // nobody is left who could resume it
		r.endLocked()
		return true, errStopped
	}
	r.interrupted, r.resumed = false, false
	return true, r.putLocked(statusMessage(pb.AgentStatus_AGENT_STATUS_RUNNING, "resumed"))
}

func (r *Run) send(message *pb.AgentMessage) error {
	if _, err := r.checkpoint(); err != nil {
		return err
	}
	return r.put(message)
}
