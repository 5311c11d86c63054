package main

import (
	"time"

	pb "shepherd.example/notes_agent/gibson"
)

// What the work says and hears.

func (r *Run) Output(text string) error {
	return r.send(&pb.AgentMessage{Payload: &pb.AgentMessage_Output{Output: &pb.OutputChunk{Content: text}}})
}

func (r *Run) Reason(text string) error {
	return r.send(&pb.AgentMessage{Payload: &pb.AgentMessage_Output{
		Output: &pb.OutputChunk{Content: text, IsReasoning: true}}})
}

func (r *Run) ToolCall(tool, inputJSON string) (string, error) {
	id := "call-" + randomHex(6)
	return id, r.send(&pb.AgentMessage{Payload: &pb.AgentMessage_ToolCall{
		ToolCall: &pb.ToolCallEvent{ToolName: tool, InputJson: inputJSON, CallId: id}}})
}

func (r *Run) ToolResult(callID, outputJSON string, success bool) error {
	return r.send(&pb.AgentMessage{Payload: &pb.AgentMessage_ToolResult{
		ToolResult: &pb.ToolResultEvent{CallId: callID, OutputJson: outputJSON, Success: success}}})
}

func (r *Run) Finding(findingJSON string) error {
	return r.send(&pb.AgentMessage{Payload: &pb.AgentMessage_Finding{
		Finding: &pb.FindingEvent{FindingJson: findingJSON}}})
}

// Error reports one that does not end the work.
func (r *Run) Error(code, text string) error {
	return r.send(&pb.AgentMessage{Payload: &pb.AgentMessage_Error{
		Error: &pb.ErrorEvent{Code: code, Message: text}}})
}

// WaitFor is a pause that an interrupt or a stop ends early.
func (r *Run) WaitFor(duration time.Duration) error {
	if _, err := r.checkpoint(); err != nil {
		return err
	}
	if err := r.await(duration, func() bool { return r.interrupted }); err != nil {
		return err
	}
	_, err := r.checkpoint()
	return err
}

// NextSteering is what the operator said next; false when there is nothing new.
func (r *Run) NextSteering() (string, bool, error) {
	if _, err := r.checkpoint(); err != nil {
		return "", false, err
	}
	return r.takeWord()
}

func (r *Run) takeWord() (string, bool, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.words) == 0 {
		return "", false, nil
	}
	word := r.words[0]
	r.words = r.words[1:]
	return word, true, nil
}

// WaitForInput waits for the operator's word in interactive mode; false in autonomous mode.
func (r *Run) WaitForInput(question string) (string, bool, error) {
	if _, err := r.checkpoint(); err != nil {
		return "", false, err
	}
	needsWord := func() bool { return r.interactive && len(r.words) == 0 }
	for {
		r.mu.Lock()
		waits := needsWord()
		r.mu.Unlock()
		if !waits {
			return r.takeWord()
		}
		if err := r.put(statusMessage(pb.AgentStatus_AGENT_STATUS_WAITING_FOR_INPUT, question)); err != nil {
			return "", false, err
		}
		err := r.await(0, func() bool { return !needsWord() || r.interrupted || r.halfClosed })
		if err != nil {
			return "", false, err
		}
		if paused, err := r.checkpoint(); err != nil {
			return "", false, err
		} else if paused {
			continue
		}
		r.mu.Lock()
		alone := r.halfClosed && needsWord()
		r.mu.Unlock()
		if alone {
			r.end(pb.AgentStatus_AGENT_STATUS_INTERRUPTED, "nobody can answer")
			return "", false, errStopped
		}
		if err := r.put(statusMessage(pb.AgentStatus_AGENT_STATUS_RUNNING, "goes on")); err != nil {
			return "", false, err
		}
	}
}
