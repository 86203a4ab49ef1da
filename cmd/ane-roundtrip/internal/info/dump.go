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
	r, failed, err := roundTrip(a, ctx)
	if err != nil {
		return err
	}
	e := json.NewEncoder(f)
	e.SetIndent("", " ")
	e.SetEscapeHTML(false) // types have < and >
	err = e.Encode(r.Dump)
	if err == nil {
		err = f.Commit()
	}
	if err != nil {
		return cli.WriteError(path, err)
	}
	a.Logf("%s is written; attach it to an issue, it does not contain your name", path)
	r.Details, r.Dump = map[string]any{"file": path}, nil
	a.Deliver(r)
	return failed
}

// savePage delivers the object of which the page of info is made: the engines of this machine, and its dump with a round
// trip.
func savePage(a *cli.App, ctx context.Context) error {
	r, failed, err := roundTrip(a, ctx)
	if err != nil {
		return err
	}
	r.Details, r.View = detailsOfMachine(), machineView(a.Engine, r.Host.NoMemory)
	a.ReportFile.Notice = "has paths of this machine; attach the dump of --report FILE.json to an issue instead"
	a.Deliver(r)
	return failed
}

// roundTrip returns a report with the dump of this machine and its round trip. failed is the reason why the engine is
// not available, or the failure of a check.
func roundTrip(a *cli.App, ctx context.Context) (r cli.Report, failed, err error) {
	d, o, failed, err := observation(a, ctx)
	if err != nil {
		return r, nil, err
	}
	r = cli.NewReport(nil)
	if d == nil {
		r.Dump = envelopeOf(observed(a), o, failed, nil)
		return r, failed, nil
	}
	trip, err := (&check.CheckRun{App: a, Repeat: reportIterations}).CheckEngine(ctx, d, "")
	if err != nil {
		return r, nil, err
	}
	r.Dump = envelopeOf(observed(a), o, nil, &trip)
	r.SetEngine(&trip.Receipt)
	r.Checks = append(r.Checks, trip.Checks...)
	for _, c := range trip.Checks {
		if c.Status == trial.Fail {
			a.Logf("%s failed: %s", c.Name, c.Detail)
		}
	}
	return r, r.Judge(), nil
}
