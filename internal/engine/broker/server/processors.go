package server

import "runtime"

// spareProcessors is how many goroutines of a broker's own process may run beside the workers of its engine: one that
// reads a request and one that sends an answer.
const spareProcessors = 2

// Processors raises GOMAXPROCS by spareProcessors, and returns what it was: the Workers of the broker's Config. A
// process that is a broker and nothing else calls it once, before it serves. Without the spare ones a request that
// arrives while workers compute on every processor would wait for the end of a step to be read, for the end of the next
// one to run, and for a third to be answered; with them the system's scheduler interrupts a worker. From then on
// GOMAXPROCS does not follow the limits of the process's cgroup.
func Processors() (workers int) {
	workers = runtime.GOMAXPROCS(0)
	runtime.GOMAXPROCS(workers + spareProcessors)
	return workers
}
