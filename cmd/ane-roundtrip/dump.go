package main

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/ane/engine"
	"github.com/anekit/anekit/ane/mil/ops"
	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/trial"
	"github.com/anekit/anekit/internal/engine/observe"
	"github.com/anekit/anekit/internal/host"
	"github.com/anekit/anekit/internal/plist"
)

// reportIterations is how often a report evaluates each model for its timings.
const reportIterations = 200

// observed is the name of the engine that a dump describes. On a Mac without --engine that is
// Apple's, also where auto falls back to another engine.
func (a *app) observed() string {
	switch {
	case a.engine == engine.Auto && a.socket != "":
		return engine.Broker
	case a.engine == engine.Auto && host.Apple:
		return engine.Apple
	}
	return a.engine
}

// observe opens the engine that a dump describes. If the engine is not available, d is nil and
// unavailable is the reason. The Observation of an engine without a framework is empty.
func (a *app) observe(ctx context.Context) (d *ane.Device, o *observe.Observation, unavailable, err error) {
	name := a.observed()
	if a.apple && name != engine.Apple {
		d, err = a.open(ctx, nil) // returns the error of --require-ane
		return d, &observe.Observation{}, err, nil
	}
	if name != engine.Apple && name != engine.StandIn {
		d, err = a.open(ctx, nil)
		if errors.Is(err, ane.ErrUnavailable) {
			return nil, &observe.Observation{}, err, nil
		}
		return d, &observe.Observation{}, nil, err
	}
	d, o, err = observe.Open(ctx, name)
	if ctx.Err() != nil {
		return nil, o, nil, ctx.Err()
	}
	return d, o, err, nil
}

// dump returns the dump of this machine without a round trip.
func (a *app) dump(ctx context.Context) (plist.Dict, error) {
	d, o, unavailable, err := a.observe(ctx)
	if err != nil {
		return nil, err
	}
	return envelopeOf(a.observed(), o, unavailable, nil), d.Close()
}

// reportDetails are the fields that info --report adds to the report.
type reportDetails struct {
	File string `json:"file"`
}

// report writes the dump of this machine with a round trip to a file, also if the round trip
// fails.
func (a *app) report(ctx context.Context, path string) (err error) {
	f, err := (&commandFiles{app: a}).create("--report", path)
	if err != nil {
		return err
	}
	defer f.Discard()
	defer context.AfterFunc(ctx, f.Discard)() // an interrupt removes the half-written file
	dump, trip, unavailable, err := a.tripDump(ctx)
	if err != nil {
		return err
	}
	e := json.NewEncoder(f)
	e.SetIndent("", " ")
	e.SetEscapeHTML(false) // types have < and >
	err = e.Encode(dump)
	if err == nil {
		err = f.Commit()
	}
	if err != nil {
		return unwritten(path, err)
	}
	a.logf("%s is written; attach it to an issue, it does not contain your name", path)
	r := newReport(nil)
	r.Details = reportDetails{path}
	return a.judgeTrip(r, trip, unavailable)
}

// page delivers the object of which the page of info is made: the engines of this machine, and its dump with a round
// trip.
func (a *app) page(ctx context.Context) error {
	dump, trip, unavailable, err := a.tripDump(ctx)
	if err != nil {
		return err
	}
	r := newReport(nil)
	r.Details, r.Dump = infoDetails{engine.Probe(), frameworks(), ops.Names()}, dump
	a.saved.notice = "has paths of this machine; attach the dump of --report FILE.json to an issue instead"
	return a.judgeTrip(r, trip, unavailable)
}

// tripDump returns the dump of this machine with a round trip, which is nil if the engine is not available.
func (a *app) tripDump(ctx context.Context) (dump plist.Dict, trip *engineResult, unavailable, err error) {
	d, o, unavailable, err := a.observe(ctx)
	if err != nil {
		return nil, nil, nil, err
	}
	if d != nil {
		t, err := (&checkRun{app: a, repeat: reportIterations}).checkEngine(ctx, d)
		if err != nil {
			return nil, nil, nil, err
		}
		trip = &t
	}
	return envelopeOf(a.observed(), o, unavailable, trip), trip, unavailable, nil
}

// judgeTrip delivers the report of a round trip.
func (a *app) judgeTrip(r report, trip *engineResult, unavailable error) error {
	if trip == nil {
		a.deliver(r)
		return unavailable
	}
	r.setEngine(&trip.receipt)
	r.Checks = append(r.Checks, trip.checks...)
	for _, c := range trip.checks {
		if c.Status == trial.Fail {
			a.logf("%s failed: %s", c.Name, c.Detail)
		}
	}
	err := r.judge()
	a.deliver(r)
	return err
}
