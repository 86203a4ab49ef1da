package wire_test

import (
	"math"
	"reflect"
	"strings"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/internal/engine/broker/wire"
	"github.com/anekit/anekit/internal/engine/driverabi"
)

// samples are two of each payload: empty, and with every field set to something else.
func samples() []wire.Payload {
	l := ane.Layout{Name: "x", DType: mil.FP16, Shape: []int{1, 2, 3, 4}, Batches: 1, Channels: 2, Depth: 1, Height: 3,
		Width:       4,
		BatchStride: 384, PlaneStride: 192, DepthStride: 192, RowStride: 64}
	args := wire.Arguments{PowerSaving: true, Aggressive: true, KeepWired: true, QueueDepth: driverabi.QueueDepth}
	weights := []wire.Weight{{Name: "@model_path/w.bin", Descriptor: 1, Offset: 64, Size: 128},
		{Name: "b", Descriptor: 15, Size: wire.MaxBytes}}
	also := wire.Failure{Code: 7, Causes: []uint32{1, 2}, Text: "cause", Op: "compile", Engine: "soft", Name: "x",
		Detail: "d", Rule: "r", Hint: "h",
		Domain: "com.apple.ane", NSCode: -5, Entitlement: "com.apple.ane.x", Return: 0xe00002c2,
		Lines: []wire.Line{{File: "f.mil", Line: 1, Col: 2, Msg: "m\n\x00\xff", Hint: "h"}, {}}}
	fault := wire.Fault{Failure: also, Also: []wire.Failure{also, {}}}
	full := []wire.Payload{
		&wire.Hello{Version: 1, Tier: "restricted", Executable: "/bin/x"},
		&wire.HelloReply{Version: 1, PID: 3, Tier: "t", Identity: "i", Chip: "c", OSBuild: "o",
			Numerics: "n", Queued: 7, Bell: true},
		&wire.Surface{ID: 1, Size: wire.MaxBytes,
			Token: 3}, &wire.Drop{Token: math.MaxUint32},
		&wire.Compile{File: "f", Function: "main", TextSize: 5, Weights: weights, Key: "k"},
		&wire.Instance{Program: 1, Weights: weights, Args: args},
		&wire.Compiled{Program: 1, Cached: true, Key: "k", In: []ane.Layout{l, {}}, Out: []ane.Layout{l},
			Notes: []string{"a", "", "b"}},
		&wire.Load{Program: 1, QoS: 0x21, Args: args}, &wire.Loaded{Program: 1, QueueDepth: 2},
		&wire.Unload{Program: 1}, &wire.Release{Program: 2},
		&wire.Bind{Program: 1, In: []wire.Port{{Surface: 1, Offset: 2}}, Out: []wire.Port{{Surface: 3}, {}}},
		&wire.Bound{Request: 1}, &wire.Unbind{Request: 9},
		&wire.Evaluate{Request: 1, QoS: 0x21, Sequence: math.MaxUint64, Deadline: 4}, &wire.Done{Sequence: 1,
			Status: 2},
		&wire.Chain{Sequence: 1, Deadline: 2, Steps: []wire.Step{{Request: 3, QoS: 4}, {}}},
		&wire.Cancel{Sequence: 5}, &wire.Cancelled{Sequence: 5, State: wire.CancelRunning},
		&wire.Purge{Key: "k"}, &wire.Purged{Programs: 1, Bytes: 2},
		&wire.Stats{Counters: []wire.Counter{{Name: "a", Value: 1}, {Name: "b", Value: 2}}},
		&wire.Empty{}, &fault,
	}
	all := full
	for _, p := range full {
		all = append(all, fresh(p))
	}
	return all
}

// fresh is an empty payload of p's type.
func fresh(p wire.Payload) wire.Payload {
	return reflect.New(reflect.TypeOf(p).Elem()).Interface().(wire.Payload)
}

// nameOf is the type of a payload.
func nameOf(p wire.Payload) string { return reflect.TypeOf(p).Elem().Name() }

// beyond are payloads that break one limit each.
func beyond() map[string]wire.Payload {
	long := func(n int) string { return strings.Repeat("x", n+1) }
	return map[string]wire.Payload{
		"numerics":      &wire.Hello{Numerics: 6},
		"tier":          &wire.Hello{Tier: long(wire.MaxName)},
		"executable":    &wire.Hello{Executable: long(wire.MaxPath)},
		"size":          &wire.Surface{Size: wire.MaxBytes + 1},
		"text size":     &wire.Compile{TextSize: wire.MaxBytes + 1},
		"weights":       &wire.Compile{Weights: make([]wire.Weight, wire.MaxWeights+1)},
		"descriptor":    &wire.Compile{Weights: []wire.Weight{{Descriptor: wire.MaxDescriptors}}},
		"weight name":   &wire.Instance{Weights: []wire.Weight{{Name: long(wire.MaxPath)}}},
		"weight size":   &wire.Instance{Weights: []wire.Weight{{Size: wire.MaxBytes + 1}}},
		"weight offset": &wire.Instance{Weights: []wire.Weight{{Offset: wire.MaxBytes + 1}}},
		"key":           &wire.Compile{Key: long(wire.MaxName)},
		"queue depth":   &wire.Instance{Args: wire.Arguments{QueueDepth: driverabi.QueueDepth + 1}},
		"granted":       &wire.Loaded{QueueDepth: driverabi.QueueDepth + 1},
		"inputs":        &wire.Compiled{In: make([]ane.Layout, wire.MaxTensors+1)},
		"shape":         &wire.Compiled{In: []ane.Layout{{Shape: make([]int, ane.MaxRank+1)}}},
		"axis":          &wire.Compiled{In: []ane.Layout{{Shape: []int{-1}}}},
		"stride":        &wire.Compiled{Out: []ane.Layout{{RowStride: wire.MaxBytes + 1}}},
		"least stride":  &wire.Compiled{Out: []ane.Layout{{RowStride: math.MinInt}}},
		"dtype":         &wire.Compiled{Out: []ane.Layout{{DType: mil.UInt64 + 1}}},
		"notes":         &wire.Compiled{Notes: make([]string, wire.MaxNotes+1)},
		"note":          &wire.Compiled{Notes: []string{long(wire.MaxText)}},
		"ports":         &wire.Bind{Out: make([]wire.Port, wire.MaxTensors+1)},
		"offset":        &wire.Bind{In: []wire.Port{{Offset: wire.MaxBytes + 1}}},
		"state":         &wire.Cancelled{State: wire.CancelRunning + 1},
		"counters":      &wire.Stats{Counters: make([]wire.Counter, wire.MaxCounters+1)},
		"causes":        &wire.Fault{Failure: wire.Failure{Causes: make([]uint32, wire.MaxCauses+1)}},
		"lines":         &wire.Fault{Failure: wire.Failure{Lines: make([]wire.Line, wire.MaxLines+1)}},
		"also":          &wire.Fault{Also: make([]wire.Failure, wire.MaxFaults+1)},
		"message":       &wire.Fault{Also: []wire.Failure{{Lines: []wire.Line{{Msg: long(wire.MaxText)}}}}},
	}
}
