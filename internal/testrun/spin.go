package main

import "runtime"

// spin has every core busy until the process ends.
func spin() {
	cores := runtime.NumCPU()
	runtime.GOMAXPROCS(cores + 1) // and one to pass on what the tests print
	for range cores {
		go func() {
			runtime.LockOSThread()
			for n := uint64(1); n != 0; {
				n += 2
			}
		}()
	}
}
