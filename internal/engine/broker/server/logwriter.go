package server

import (
	"fmt"
	"io"
	"sync/atomic"
	"time"
)

// LogWriter passes lines to another writer and never makes its caller wait. A goroutine of
// its own writes them; what does not fit into the queue is dropped and counted. A writer
// that blocks for ever, or fails, costs that goroutine and nothing else.
type LogWriter struct {
	queue   chan []byte // nil is the last one
	dropped atomic.Uint64
	over    chan struct{}
}

// Bounds of a LogWriter's queue.
const (
	maxLogLines = 256
	maxLogLine  = 32 << 10 // longer lines are cut
)

// NewLogWriter starts the goroutine that writes to w. Close ends it.
func NewLogWriter(w io.Writer) *LogWriter {
	l := &LogWriter{queue: make(chan []byte, maxLogLines), over: make(chan struct{})}
	go l.run(w)
	return l
}

// Write implements io.Writer. It never fails and keeps no part of b.
func (l *LogWriter) Write(b []byte) (int, error) {
	line := append([]byte{}, b[:min(len(b), maxLogLine)]...)
	if len(b) > maxLogLine {
		copy(line[maxLogLine-4:], "...\n")
	}
	select {
	case l.queue <- line:
	default:
		l.dropped.Add(1)
	}
	return len(b), nil
}

// Close waits for the lines in the queue, at most for the given time. Lines that come later are not written.
func (l *LogWriter) Close(within time.Duration) {
	late := time.After(within)
	select {
	case l.queue <- nil:
	case <-late:
		return
	}
	select {
	case <-l.over:
	case <-late:
	}
}

// run writes until the queue is closed. A log that cannot be written has no reader to tell.
func (l *LogWriter) run(w io.Writer) {
	defer close(l.over)
	told := uint64(0) // of the lines that were dropped
	for line := range l.queue {
		if n := l.dropped.Load(); n > told {
			_, _ = fmt.Fprintf(w, "log lines dropped: %d\n", n-told)
			told = n
		}
		if line == nil {
			return
		}
		_, _ = w.Write(line)
	}
}
