#include "base/lane_set.h"

#include "base/limits.h"

namespace shepherd {

Lanes::Lanes(MetricRegistry& metrics)
    : feeds({"feeds", kLaneThreads, kMaxFeedQueue, kMaxFeedCaller}, metrics),
      queries({"queries", kLaneThreads, kMaxLaneQueue, kMaxLaneCaller}, metrics),
      scans({"scans", kLaneThreads, kMaxLaneQueue, kMaxLaneCaller}, metrics),
      searches({"searches", kLaneThreads, kMaxLaneQueue, kMaxLaneCaller}, metrics),
      intake({"intake", kLaneThreads, kMaxLaneQueue, kMaxLaneCaller}, metrics),
      background({"background", 1, kMaxLaneQueue, kMaxLaneCaller}, metrics) {}

}  // namespace shepherd
