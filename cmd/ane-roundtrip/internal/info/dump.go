package info

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/ane/engine"
	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/check"
	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/cli"
	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/trial"
	"github.com/anekit/anekit/internal/engine/observe"
	"github.com/anekit/anekit/internal/host"
	"github.com/anekit/anekit/internal/plist"
)

// reportIterations is how often a report evaluates each model for its timings.
const reportIterations = 200

// observed is the name of the engine that a dump describes. On a Mac without --engine that is
// Apple's, also where auto falls back to another engine.
func observed(a *cli.App) string {
	switch {
	case a.Engine == engine.Auto && a.Socket != "":
		return engine.Broker
	case a.Engine == engine.Auto && host.Apple:
		return engine.Apple
	}
	return a.Engine
}

// observation opens the engine that a dump describes. If the engine is not available, d is nil and
// unavailable is the reason. The Observation of an engine without a framework is empty.
func observation(a *cli.App, ctx context.Context) (d *ane.Device, o *observe.Observation, unavailable, err error) {
	name := observed(a)
	if name != engine.Apple && (a.RequireApple || name != engine.StandIn) {
		d, err = a.OpenEngine(ctx, nil)
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
func dump(a *cli.App, ctx context.Context) (plist.Dict, error) {
	d, o, unavailable, err := observation(a, ctx)
	if err != nil {
		return nil, err
	}
	return envelopeOf(observed(a), o, unavailable, nil), d.Close()
}

// report writes the dump of this machine with a round trip to a file, also if the round trip
// fails.
func report(a *cli.App, ctx context.Context, path string) (err error) {
	f, err := a.CreateOutput("--report", path)
	if err != nil {
		return err
	}
	defer f.Discard()
	defer context.AfterFunc(ctx, f.Discard)() // an interrupt removes the half-written file
	dump, trip, unavailable, err := tripDump(a, ctx)
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
		return cli.WriteError(path, err)
	}
	a.Logf("%s is written; attach it to an issue, it does not contain your name", path)
	r := cli.NewReport(nil)
	r.Details = map[string]any{"file": path}
	return judgeTrip(a, r, trip, unavailable)
}

// savePage delivers the object of which the page of info is made: the engines of this machine, and its dump with a round
// trip.
func savePage(a *cli.App, ctx context.Context) error {
	dump, trip, unavailable, err := tripDump(a, ctx)
	if err != nil {
		return err
	}
	r := cli.NewReport(nil)
	r.Details, r.View, r.Dump = detailsOfMachine(), machineView(a.Engine, r.Host.NoMemory), dump
	a.ReportFile.Notice = "has paths of this machine; attach the dump of --report FILE.json to an issue instead"
	return judgeTrip(a, r, trip, unavailable)
}

// tripDump returns the dump of this machine with a round trip, which is nil if the engine is not available.
func tripDump(a *cli.App, ctx context.Context) (dump plist.Dict, trip *check.EngineResult, unavailable, err error) {
	d, o, unavailable, err := observation(a, ctx)
	if err != nil {
		return nil, nil, nil, err
	}
	if d != nil {
		t, err := (&check.CheckRun{App: a, Repeat: reportIterations}).CheckEngine(ctx, d)
		if err != nil {
			return nil, nil, nil, err
		}
		trip = &t
	}
	return envelopeOf(observed(a), o, unavailable, trip), trip, unavailable, nil
}

// judgeTrip delivers the report of a round trip.
func judgeTrip(a *cli.App, r cli.Report, trip *check.EngineResult, unavailable error) error {
	if trip == nil {
		a.Deliver(r)
		return unavailable
	}
	r.SetEngine(&trip.Receipt)
	r.Checks = append(r.Checks, trip.Checks...)
	for _, c := range trip.Checks {
		if c.Status == trial.Fail {
			a.Logf("%s failed: %s", c.Name, c.Detail)
		}
	}
	err := r.Judge()
	a.Deliver(r)
	return err
}
