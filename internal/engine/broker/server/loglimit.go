package server

import (
	"context"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"
)

// Rates of the log: so many lines at once, then one every so often.
const (
	logBurst    = 8 // of one kind about one client
	logEvery    = 10 * time.Second
	logBurstAll = 256 // of all kinds and clients
	logEveryAll = 100 * time.Millisecond
	maxLogKinds = 1024 // pairs of kind and client that logLimit remembers
)

// logLimit is a slog.Handler that passes lines on at a bounded rate: for each message and
// client, so that one client cannot bury what is said of another, and for all together.
type logLimit struct {
	to slog.Handler
	*logRates
	pid int64 // of the client that the lines are about, 0 for none
}

// logRates is what all handlers of one log share.
type logRates struct {
	now               func() time.Time
	lines, suppressed atomic.Uint64

	mu    sync.Mutex
	all   bucket
	kinds map[logKind]*bucket
}

// logKind is what is limited by itself.
type logKind struct {
	message string
	pid     int64
}

// bucket counts what was used of a rate. It drains with time.
type bucket struct {
	used    time.Duration // times one line's share
	at      time.Time
	skipped int // lines since the last that passed
}

// limitLog limits a handler.
func limitLog(to slog.Handler, now func() time.Time) *logLimit {
	return &logLimit{to: to, logRates: &logRates{now: now, kinds: map[logKind]*bucket{}}}
}

// pidKey is the attribute that names a client's process.
const pidKey = "pid"

// Enabled implements slog.Handler.
func (l *logLimit) Enabled(ctx context.Context, level slog.Level) bool {
	return l.to.Enabled(ctx, level)
}

// WithAttrs implements slog.Handler.
func (l *logLimit) WithAttrs(attrs []slog.Attr) slog.Handler {
	next := &logLimit{l.to.WithAttrs(attrs), l.logRates, l.pid}
	for _, a := range attrs {
		if a.Key == pidKey {
			next.pid = a.Value.Int64()
		}
	}
	return next
}

// WithGroup implements slog.Handler.
func (l *logLimit) WithGroup(name string) slog.Handler {
	return &logLimit{l.to.WithGroup(name), l.logRates, l.pid}
}

// Handle implements slog.Handler.
func (l *logLimit) Handle(ctx context.Context, r slog.Record) error {
	skipped, pass := l.take(logKind{r.Message, l.pid})
	if !pass {
		l.suppressed.Add(1)
		return nil
	}
	l.lines.Add(1)
	if skipped > 0 {
		r.AddAttrs(slog.Int("suppressed", skipped))
	}
	return l.to.Handle(ctx, r)
}

// take reports whether a line may pass, and how many of its kind did not since the last.
func (r *logRates) take(k logKind) (skipped int, pass bool) {
	now := r.now()
	r.mu.Lock()
	defer r.mu.Unlock()
	b := r.kinds[k]
	if b == nil {
		if len(r.kinds) >= maxLogKinds {
			r.forget(now)
		}
		b = &bucket{at: now}
		r.kinds[k] = b
	}
	if !b.room(now, logBurst, logEvery) || !r.all.room(now, logBurstAll, logEveryAll) {
		b.skipped++
		return 0, false
	}
	b.used += logEvery
	r.all.used += logEveryAll
	skipped, b.skipped = b.skipped, 0
	return skipped, true
}

// room drains the bucket and reports whether one more line fits.
func (b *bucket) room(now time.Time, burst int, every time.Duration) bool {
	b.used = max(0, b.used-max(0, now.Sub(b.at)))
	b.at = now
	return b.used <= time.Duration(burst-1)*every
}

// forget drops the kinds that have drained, or all when none has: the rate of all lines
// together holds still.
func (r *logRates) forget(now time.Time) {
	for k, b := range r.kinds {
		if b.room(now, logBurst, logEvery); b.used == 0 {
			delete(r.kinds, k)
		}
	}
	if len(r.kinds) >= maxLogKinds {
		clear(r.kinds)
	}
}
