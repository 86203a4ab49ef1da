package main

import "runtime"

// spin keeps every core busy until the process ends.
func spin() {
	cores := runtime.NumCPU()
	runtime.GOMAXPROCS(cores + 1) // one more to pass on the output of the tests
	for range cores {
		go func() {
			runtime.LockOSThread()
			for n := uint64(1); n != 0; {
				n += 2
			}
		}()
	}
}
