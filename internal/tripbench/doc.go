// Package tripbench measures an evaluation by an engine in another process against its floor:
// two processes that only wake each other through eventfds.
package tripbench
