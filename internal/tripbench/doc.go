// Package tripbench measures an evaluation by an engine in another process beside
// what it cannot beat: two processes that wake each other through eventfds and do
// nothing else.
package tripbench
