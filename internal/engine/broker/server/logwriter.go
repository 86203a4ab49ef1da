package server

import (
	"fmt"
	"io"
	"sync"
	"time"
)

// LogWriter passes lines to another writer and never makes its caller wait. A goroutine of
// its own writes them; what does not fit into the queue is dropped and counted. A writer
// that blocks for ever, or fails, costs that goroutine and nothing else.
type LogWriter struct {
	to io.Writer

	mu      sync.Mutex
	queue   [][]byte
	bytes   int // of queue
	dropped uint64
	untold  uint64 // of dropped
	closed  bool
	more    *sync.Cond // the queue is not empty, or closed
	over    chan struct{}
}

// Bounds of a LogWriter's queue.
const (
	maxLogBytes = 256 << 10
	maxLogLine  = 32 << 10 // longer lines are cut
)

// NewLogWriter starts the goroutine that writes to w. Close ends it.
func NewLogWriter(w io.Writer) *LogWriter {
	l := &LogWriter{to: w, over: make(chan struct{})}
	l.more = sync.NewCond(&l.mu)
	go l.run()
	return l
}

// Write implements io.Writer. It never fails and keeps no part of b.
func (l *LogWriter) Write(b []byte) (int, error) {
	line := b
	if len(line) > maxLogLine {
		line = append(append([]byte(nil), line[:maxLogLine-4]...), "...\n"...)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed || l.bytes+len(line) > maxLogBytes {
		l.dropped++
		l.untold++
		return len(b), nil
	}
	l.queue = append(l.queue, append([]byte(nil), line...))
	l.bytes += len(line)
	l.more.Signal()
	return len(b), nil
}

// Dropped is how many lines found no room.
func (l *LogWriter) Dropped() uint64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.dropped
}

// Close refuses further lines and waits for those in the queue, at most for the given time.
// A goroutine that is blocked then stays.
func (l *LogWriter) Close(within time.Duration) {
	l.mu.Lock()
	l.closed = true
	l.more.Signal()
	l.mu.Unlock()
	t := time.NewTimer(within)
	defer t.Stop()
	select {
	case <-l.over:
	case <-t.C:
	}
}

// run writes until the queue is empty and closed.
func (l *LogWriter) run() {
	defer close(l.over)
	for {
		b := l.next()
		if b == nil {
			return
		}
		_, _ = l.to.Write(b) // a log that cannot be written has no reader to tell
	}
}

// next waits for a line, nil for none any more. It tells of dropped lines before the line
// that follows them.
func (l *LogWriter) next() []byte {
	l.mu.Lock()
	defer l.mu.Unlock()
	for len(l.queue) == 0 && !l.closed {
		l.more.Wait()
	}
	if len(l.queue) == 0 {
		return nil
	}
	b := l.queue[0]
	l.queue[0] = nil
	l.queue = l.queue[1:]
	l.bytes -= len(b)
	if l.untold > 0 {
		b = append(fmt.Appendf(nil, "log lines dropped: %d\n", l.untold), b...)
		l.untold = 0
	}
	return b
}
