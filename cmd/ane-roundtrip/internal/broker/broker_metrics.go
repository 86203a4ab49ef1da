package broker

import "strings"

// brokerMetric is a counter of a broker as Prometheus calls it.
type brokerMetric struct {
	Counter     string // the broker's name
	name        string // without the prefix; one that ends in _total only rises while the broker runs
	help        string
	budget      bool // the table of budgets has it
	nanoseconds bool // the counter's unit; the metric has seconds
}

// full is the metric's name and type.
func (m brokerMetric) full() (name, kind string) {
	kind = "gauge"
	if strings.HasSuffix(m.name, "_total") {
		kind = "counter"
	}
	return "anekit_broker_" + m.name, kind
}

// BrokerMetrics are the counters that are about the broker, and the budgets of one client.
func BrokerMetrics() []brokerMetric {
	budget := func(counter, name, help string) brokerMetric {
		return brokerMetric{Counter: counter, name: name, help: help, budget: true}
	}
	plain := func(counter, name, help string) brokerMetric {
		return brokerMetric{Counter: counter, name: name, help: help}
	}
	return []brokerMetric{
		budget("clients", "clients", "Clients that have a place."),
		budget("clients allowed", "clients_limit", "Places for clients."),
		budget("clients refused", "clients_refused_total", "Connections that were not admitted."),
		budget("mappings", "mappings", "Mappings that clients are charged for."),
		budget("mappings allowed", "mappings_limit", "Mappings that all clients may have."),
		budget("own mappings allowed", "client_mappings_limit", "Mappings that one client may have."),
		budget("refused for want of mappings", "mappings_refused_total", "Calls refused for want of mappings."),
		budget("descriptors", "descriptors", "Descriptors that clients are charged for."),
		budget("descriptors allowed", "descriptors_limit", "Descriptors that all clients may have."),
		budget("own descriptors allowed", "client_descriptors_limit", "Descriptors that one client may have."),
		budget("refused for want of descriptors", "descriptors_refused_total",
			"Calls refused for want of descriptors."),
		budget("bytes of memory", "memory_bytes", "Memory that clients are charged for."),
		budget("bytes of memory allowed", "memory_limit_bytes", "Memory that all clients may have."),
		budget("own bytes of memory allowed", "client_memory_limit_bytes", "Memory that one client may have."),
		budget("refused for want of memory", "memory_refused_total", "Calls refused for want of memory."),
		plain("clients admitted", "clients_admitted_total", "Clients that were admitted."),
		plain("faults", "faults_total", "Calls that were answered with an error."),
		plain("panics", "panics_total", "Panics of the engine, each of which ended a call."),
		plain("policies read", "policies_read_total", "Policies that a SIGHUP put in force."),
		plain("policies refused", "policies_refused_total", "Policies that a SIGHUP could not put in force."),
		plain("log lines", "log_lines_total", "Lines that were logged."),
		plain("log lines suppressed", "log_lines_suppressed_total", "Lines beyond the rate of the log."),
		plain("log lines dropped", "log_lines_dropped_total", "Lines that the log's reader left no room for."),
		plain("compiles", "compiles_total", "Compiles that were answered with a program."),
		plain("compiles from the cache", "compiles_cached_total", "Compiles that the cache answered."),
		plain("compiles from memory", "compiles_shared_total", "Compiles of programs that were in memory."),
		plain("cache entries damaged", "cache_entries_damaged_total", "Cache entries that were removed as damaged."),
		plain("programs not cached", "programs_uncached_total", "Programs that could not be stored in the cache."),
		plain("instances", "instances_total", "Instances that were made."),
		plain("programs in memory", "programs", "Programs in memory."),
		plain("programs loaded", "programs_loaded", "Programs that are loaded."),
		plain("surfaces mapped", "surfaces_mapped", "Surfaces that the engine has mapped."),
		plain("requests waiting", "requests_waiting", "Requests in the queue."),
		plain("requests running", "requests_running", "Requests that the engine runs."),
		plain("evaluations", "evaluations_total", "Evaluations that ended."),
		plain("evaluations failed", "evaluations_failed_total", "Evaluations that ended without a result."),
		plain("own surfaces allowed", "client_surfaces_limit", "Surfaces that one client may have."),
		plain("own bytes of surfaces allowed", "client_surfaces_limit_bytes", "Bytes of surfaces of one client."),
		plain("own programs allowed", "client_programs_limit", "Programs that one client may have."),
		plain("own requests allowed", "client_requests_limit", "Bound requests that one client may have."),
	}
}

// ClassMetrics are the counters of each class.
func ClassMetrics() []brokerMetric {
	return []brokerMetric{
		{Counter: "sent", name: "requests_sent_total", help: "Requests that were accepted."},
		{Counter: "completed", name: "requests_completed_total", help: "Requests that ran to their end."},
		{Counter: "failed", name: "requests_failed_total", help: "Requests that the engine could not run."},
		{Counter: "cancelled", name: "requests_cancelled_total", help: "Requests that were cancelled."},
		{Counter: "timed out", name: "requests_timed_out_total", help: "Requests that their time limit ended."},
		{Counter: "refused", name: "requests_refused_total", help: "Requests that the queue had no room for."},
		{Counter: "waiting", name: "class_requests_waiting", help: "Requests in the queue, by class."},
		{Counter: "most waiting", name: "class_requests_waiting_max", help: "Most requests in the queue at once."},
		{Counter: "longest wait ns", name: "class_wait_max_seconds", help: "Longest time of a request in the queue.",
			nanoseconds: true},
	}
}
