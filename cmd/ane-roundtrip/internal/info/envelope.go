package info

import (
	"cmp"
	"encoding/json"
	"math"
	"os"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"github.com/anekit/anekit/ane/engine"
	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/check"
	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/cli"
	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/trial"
	"github.com/anekit/anekit/internal/engine/apple"
	"github.com/anekit/anekit/internal/engine/observe"
	"github.com/anekit/anekit/internal/engine/standin"
	"github.com/anekit/anekit/internal/host"
	"github.com/anekit/anekit/internal/plist"
	"github.com/anekit/anekit/objcbridge"
)

// envelope builds a dump of this machine in the form of testdata/dumps: the answers of a framework,
// which the stand-in replays.
type envelope struct {
	scrub scrubber
	data  plist.Dict
}

// envelopeOf returns the dump of an observation of the engine called name. unavailable is the reason
// why the engine could not be opened, t its round trip; both may be nil.
func envelopeOf(name string, o *observe.Observation, unavailable error, t *check.EngineResult) plist.Dict {
	e := envelope{scrub: newScrubber(o.Report.Library, o.Report.Framework, os.Getenv(standin.EnvDump))}
	e.attributes(o.Known)
	e.model(o.Known)
	e.device(o.Report)
	e.selfCheck(o.Report)
	e.errors(o.Met(), unavailable)
	e.add("known", plist.Dict{{Key: "opset", Value: o.Known.Opset}, {Key: "text", Value: o.Known.Text}})
	e.versions(o.Report)
	e.budget(o)
	if t != nil {
		e.roundTrip(*t)
	}
	chip, system := "", strings.TrimSpace(host.Name+" "+systemVersion())
	if d := o.Report.Device; d != nil {
		chip = d.Architecture
		system = strings.TrimSpace(cmp.Or(d.Product, host.Name) + " " + systemVersion())
		if d.Build != "" {
			system += " (" + d.Build + ")"
		}
	}
	if replayed, ok := standin.Replayed(); ok && name == engine.StandIn {
		system = cmp.Or(replayed.OS, system) // the system that recorded the dump
	}
	return plist.Dict{
		{Key: "source", Value: "ane-roundtrip info, engine " + name},
		{Key: "chip", Value: e.scrub.text(cmp.Or(chip, runtime.GOARCH))},
		{Key: "os", Value: e.scrub.text(system)},
		{Key: "program", Value: "known-answer program y = 2x + 3 over tensor<fp16, [1, 64, 4, 32]>"},
		{Key: "what", Value: "modelAttributes after load, self-check, device, registry, errors" +
			map[bool]string{true: ", round trips"}[t != nil]},
		{Key: "trust", Value: "written by the machine itself"},
		{Key: "data", Value: e.data},
	}
}

func (e *envelope) add(key string, value any) {
	e.data = append(e.data, plist.Entry{Key: key, Value: value})
}

// attributes adds the modelAttributes of the known program. It adds keys other than the two known ones
// separately and scrubbed, since they may identify the user.
func (e *envelope) attributes(k apple.Known) {
	if k.Attributes == nil {
		return
	}
	v, err := plist.Read(k.Attributes)
	d, ok := v.(plist.Dict)
	if !ok || err != nil {
		e.add("attributes_text", e.scrub.text(string(k.Attributes)))
		return
	}
	others := plist.Dict{}
	for _, entry := range d {
		switch entry.Key {
		case "ANEFModelDescription", "NetworkStatusList":
			e.data = append(e.data, entry)
		default:
			others = append(others, plist.Entry{Key: entry.Key, Value: e.scrub.tree(entry.Value)})
		}
	}
	if len(others) > 0 {
		e.add("other_attributes", others)
	}
}

func (e *envelope) model(k apple.Known) {
	if k.Attributes == nil {
		return
	}
	f := k.Facts
	e.add("model", plist.Dict{
		{Key: "state", Value: whole(f.State)},
		{Key: "queueDepth", Value: int64(f.QueueDepth)},
		{Key: "intermediateBufferHandle", Value: whole(f.Intermediate)},
		{Key: "perfStatsMask", Value: int64(f.PerfStats)},
	})
}

// whole returns a number as the type that package plist uses for it.
func whole(n uint64) any {
	if n > math.MaxInt64 {
		return n
	}
	return int64(n)
}

// personal matches properties that may identify one machine.
var personal = regexp.MustCompile(`(?i)serial|uuid|unique|ecid|identifier`)

// device adds the properties of _ANEDeviceInfo, and those of the IORegistry that begin with
// ANEDeviceProperty: a later system may add personal ones.
func (e *envelope) device(r objcbridge.Report) {
	if d := r.Device; d != nil {
		answers := plist.Dict{}
		answer := func(key string, a objcbridge.Answer) {
			if a == objcbridge.AnswerYes || a == objcbridge.AnswerNo {
				answers = append(answers, plist.Entry{Key: key, Value: a == objcbridge.AnswerYes})
			}
		}
		number := func(key string, n int64) {
			if n >= 0 {
				answers = append(answers, plist.Entry{Key: key, Value: n})
			}
		}
		text := func(key, s string) {
			if s != "" {
				answers = append(answers, plist.Entry{Key: key, Value: e.scrub.text(s)})
			}
		}
		answer("hasANE", d.HasANE)
		number("numANEs", int64(d.Engines))
		number("numANECores", int64(d.Cores))
		text("aneArchitectureType", d.Architecture)
		text("aneSubType", d.Subtype)
		text("aneSubTypeVariant", d.Variant)
		number("aneBoardType", d.Board)
		text("productName", d.Product)
		text("buildVersion", d.Build)
		answer("isVirtualMachine", d.VirtualMachine)
		answer("isInternalBuild", d.InternalBuild)
		e.add("device", answers)
	}
	services := plist.Dict{}
	for _, p := range r.Registry {
		if !strings.HasPrefix(p.Name, "ANEDeviceProperty") || personal.MatchString(p.Name) {
			continue
		}
		at := slices.IndexFunc(services, func(s plist.Entry) bool { return s.Key == p.Service })
		if at < 0 {
			at, services = len(services), append(services, plist.Entry{Key: p.Service, Value: plist.Dict{}})
		}
		properties := services[at].Value.(plist.Dict)
		var value any = e.scrub.text(p.Value)
		if n, err := strconv.ParseInt(p.Value, 10, 64); err == nil {
			value = n
		}
		services[at].Value = append(properties, plist.Entry{Key: p.Name, Value: value})
	}
	e.add("ioreg", services)
	if r.Unread != "" {
		e.add("ioreg_error", e.scrub.text(cli.OneLine(r.Unread)))
	}
}

func (e *envelope) selfCheck(r objcbridge.Report) {
	rows := plist.Array{}
	for _, c := range r.Checks {
		rows = append(rows, plist.Dict{
			{Key: "class", Value: c.Class}, {Key: "selector", Value: c.Selector}, {Key: "class_method",
				Value: c.ClassMethod},
			{Key: "required", Value: c.Required}, {Key: "expected", Value: c.Expected}, {Key: "found", Value: c.Found},
			{Key: "status", Value: c.Status.String()},
		})
	}
	e.add("self_check", rows)
}

// errors adds the errors of the framework, and the reason why the engine could not be opened.
func (e *envelope) errors(met []apple.Met, unavailable error) {
	rows := plist.Array{}
	for _, m := range met {
		b := m.Err
		row := plist.Dict{
			{Key: "stage", Value: b.Stage.String()}, {Key: "kind", Value: b.Kind.String()},
			{Key: "domain", Value: e.scrub.text(b.Domain)}, {Key: "code", Value: b.Code}, {Key: "text",
				Value: e.scrub.text(b.Message)},
		}
		info := plist.Dict{}
		if b.HasStatus && b.StatusType == 0 {
			info = append(info, plist.Entry{Key: "_ANEErrorUnderlyingStatus", Value: int64(b.Status)})
		}
		if b.LoadStage != 0 {
			info = append(info, plist.Entry{Key: "_ANEErrorLoadStage", Value: int64(b.LoadStage)})
		}
		if len(info) > 0 {
			row = append(row, plist.Entry{Key: "userInfo", Value: info})
		}
		causes := plist.Array{}
		for _, c := range b.Causes {
			causes = append(causes, plist.Dict{{Key: "domain", Value: e.scrub.text(c.Domain)}, {Key: "code",
				Value: c.Code},
				{Key: "text", Value: e.scrub.text(c.Message)}})
		}
		if len(causes) > 0 {
			row = append(row, plist.Entry{Key: "underlying", Value: causes})
		}
		rows = append(rows, append(row, plist.Entry{Key: "recovered", Value: m.Recovered}, plist.Entry{Key: "times",
			Value: int64(m.Count)}))
	}
	e.add("errors", rows)
	if unavailable != nil {
		e.add("unavailable", e.scrub.text(cli.ErrorText(unavailable)))
	}
}

func (e *envelope) versions(r objcbridge.Report) {
	e.add("versions", plist.Dict{
		{Key: "anekit", Value: cli.Version()}, {Key: "go", Value: runtime.Version()},
		{Key: "system", Value: host.Platform}, {Key: "framework",
			Value: e.scrub.text(r.Framework)},
	})
}

func (e *envelope) budget(o *observe.Observation) {
	u := o.Usage()
	e.add("budget", plist.Dict{
		{Key: "compiles", Value: u.Compiles},
		{Key: "loaded", Value: u.Loaded}, {Key: "program_limit", Value: u.ProgramLimit},
	})
	e.add("open_ns", o.Opened.Nanoseconds())
}

// roundTrip adds the figures of every model, and every check.
func (e *envelope) roundTrip(t check.EngineResult) {
	models := plist.Array{}
	for _, row := range t.Rows {
		if row.Error != "" {
			row.Error = e.scrub.text(row.Error)
		}
		models = append(models, tree(row))
	}
	e.add("round_trip", models)
	checks, verdict := plist.Array{}, cli.VerdictPass
	for _, c := range t.Checks {
		c.Detail = e.scrub.text(c.Detail)
		checks = append(checks, tree(c))
		if c.Status == trial.Fail {
			verdict = cli.VerdictFail
		}
	}
	e.add("checks", checks)
	e.add("verdict", verdict)
}

// tree returns v as JSON values, with the keys in their order.
func tree(v any) any {
	text, err := json.Marshal(v)
	if err == nil {
		v, err = plist.Read(text)
	}
	if err != nil {
		return err.Error() // cannot happen: reports hold only numbers and strings
	}
	return v
}
