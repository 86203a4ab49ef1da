// Package logger has what takes the lines of a log: a *slog.Logger is one. Every program of a user links the engines,
// and package log/slog would link the encoder of JSON with it, 0.4 MB.
package logger

import (
	"reflect"
	"slices"
)

// Logger logs a message with attributes, keys and values in turn, as *slog.Logger does.
type Logger interface {
	Debug(msg string, attributes ...any)
	Info(msg string, attributes ...any)
	Warn(msg string, attributes ...any)
	Error(msg string, attributes ...any)
}

// With returns a Logger that logs to l, with more attributes before those of each line. One to nil, or to a nil
// pointer, logs nothing.
func With(l Logger, attributes ...any) Logger {
	if v := reflect.ValueOf(l); !v.IsValid() || v.Kind() == reflect.Pointer && v.IsNil() {
		l = nil
	} else if len(attributes) == 0 {
		return l
	}
	return with{l, attributes}
}

type with struct {
	to         Logger
	attributes []any
}

func (w with) Debug(msg string, attributes ...any) { w.log(Logger.Debug, msg, attributes) }
func (w with) Info(msg string, attributes ...any)  { w.log(Logger.Info, msg, attributes) }
func (w with) Warn(msg string, attributes ...any)  { w.log(Logger.Warn, msg, attributes) }
func (w with) Error(msg string, attributes ...any) { w.log(Logger.Error, msg, attributes) }

func (w with) log(at func(Logger, string, ...any), msg string, attributes []any) {
	if w.to != nil {
		at(w.to, msg, slices.Concat(w.attributes, attributes)...)
	}
}
