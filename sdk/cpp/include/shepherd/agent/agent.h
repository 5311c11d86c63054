// Includes all public headers of the library. Threads: see each header.
#pragma once

#include "shepherd/agent/execution.h"
#include "shepherd/agent/finding.h"
#include "shepherd/agent/log.h"
#include "shepherd/agent/metrics.h"
#include "shepherd/agent/server.h"
#include "shepherd/agent/task.h"
#include "shepherd/agent/trace_context.h"
