// The server's lanes. Work of one kind never waits for work of another.
#pragma once

#include "base/lane.h"
#include "base/metrics.h"

namespace shepherd {

// Threads: any.
struct Lanes {
  explicit Lanes(MetricRegistry& metrics);

  Lane feeds;       // feeds that are behind, streams to open, what runners read, updates of tasks
  Lane queries;     // reads of a few rows: a task, a page, a list
  Lane scans;       // reads of much: the state at an event, time bars, statistics, filtered pages
  Lane searches;    // full-text searches, which SQLite does in one step, however long
  Lane intake;      // large bodies and hook calls to decode
  Lane background;  // retention, deletions, sweeps
};

}  // namespace shepherd
