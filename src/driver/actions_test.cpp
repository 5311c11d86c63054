#include "driver/actions.h"

#include <gtest/gtest.h>

namespace shepherd {
namespace {

// What is in the list, in order.
std::string story(Actions& actions) {
  std::string text;
  for (std::size_t i = 0; i < actions.size(); ++i) {
    const Action& action = actions[i];
    if (const auto* event = std::get_if<DriverEvent>(&action)) text += "event " + event->json;
    if (const auto* delta = std::get_if<TextDelta>(&action)) text += "delta " + delta->text;
    if (const auto* write = std::get_if<WriteInput>(&action)) text += "write " + write->bytes;
    if (const auto* call = std::get_if<HostCall>(&action)) text += "call " + call->id;
    if (const auto* update = std::get_if<CommandUpdate>(&action)) text += "settle " + update->id;
    if (std::holds_alternative<CloseInput>(action)) text += "close";
    if (std::holds_alternative<PauseAgent>(action)) text += "pause";
    if (std::holds_alternative<ResumeAgent>(action)) text += "resume";
    text += ", ";
  }
  return text;
}

Actions some() {
  Actions actions;
  actions.delta({"b", "text"});
  actions.event({EventType::output, "{}", ""});
  actions.write("one\n");
  actions.write("two\n");
  actions.settle({"c", CommandState::delivered, ""});
  actions.write("three\n");
  actions.pause();
  actions.resume();
  actions.call({"r", ReadFile{"a.txt", {}, {}}});
  actions.close_input();
  return actions;
}

TEST(Actions, KeepTheirOrder) {
  Actions actions = some();
  EXPECT_EQ(story(actions),
            "delta text, event {}, write one\ntwo\n, settle c, write three\n, pause, resume, call r, close, ");
  EXPECT_EQ(actions.shown(), 2U);
  EXPECT_EQ(actions.written(), "one\ntwo\nthree\n");
}

TEST(Actions, WhatIsTakenIsGone) {
  Actions actions = some();
  EXPECT_EQ(actions.take_written(), "one\ntwo\nthree\n");
  EXPECT_EQ(story(actions), "delta text, event {}, settle c, pause, resume, call r, close, ");
  EXPECT_EQ(actions.take_events().size(), 1U);
  EXPECT_EQ(actions.size(), 0U);
  EXPECT_EQ(actions.shown(), 0U);
}

}  // namespace
}  // namespace shepherd
