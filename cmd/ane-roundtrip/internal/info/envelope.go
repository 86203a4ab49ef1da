package info

import (
	"cmp"
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
	"github.com/anekit/anekit/internal/libsystem"
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
	e.device(o.Report)
	e.selfCheck(o.Report)
	e.errors(o.Met())
	if unavailable != nil {
		e.add("unavailable", e.scrub.text(cli.ErrorText(unavailable)))
	}
	u := o.Usage()
	e.add("known", plist.Of("opset", o.Known.Opset, "text", o.Known.Text),
		"versions", plist.Of("anekit", cli.Version(), "go", runtime.Version(), "system", host.Platform,
			"framework", e.scrub.text(o.Report.Framework)),
		"budget", plist.Of("compiles", u.Compiles, "loaded", u.Loaded, "program_limit", u.ProgramLimit),
		"open_ns", o.Opened.Nanoseconds())
	what := "modelAttributes after load, self-check, device, registry, errors"
	if t != nil {
		what += ", round trips"
		e.roundTrip(*t)
	}
	device := objcbridge.Device{}
	if o.Report.Device != nil {
		device = *o.Report.Device
	}
	version, _ := libsystem.SysctlString("kern.osproductversion") // "27.0.1"; none off a Mac
	system := strings.TrimSpace(cmp.Or(device.Product, host.Name) + " " + version)
	if device.Build != "" {
		system += " (" + device.Build + ")"
	}
	if replayed, ok := standin.Replayed(); ok && name == engine.StandIn {
		system = cmp.Or(replayed.OS, system) // the system that recorded the dump
	}
	return plist.Of("source", "ane-roundtrip info, engine "+name,
		"chip", e.scrub.text(cmp.Or(device.Architecture, runtime.GOARCH)),
		"os", e.scrub.text(system),
		"program", "known-answer program y = 2x + 3 over tensor<fp16, [1, 64, 4, 32]>",
		"what", what,
		"trust", "written by the machine itself",
		"data", e.data)
}

func (e *envelope) add(pairs ...any) { e.data = append(e.data, plist.Of(pairs...)...) }

// attributes adds the modelAttributes of the known program and what the framework tells of the program. It adds keys
// other than the two known ones separately and scrubbed, since they may identify the user.
func (e *envelope) attributes(k apple.Known) {
	if k.Attributes == nil {
		return
	}
	v, err := plist.Read(k.Attributes)
	d, ok := v.(plist.Dict)
	if !ok || err != nil {
		e.add("attributes_text", e.scrub.text(string(k.Attributes)))
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
	e.add("model", plist.Of("state", k.Facts.State, "queueDepth", k.Facts.QueueDepth,
		"intermediateBufferHandle", k.Facts.Intermediate, "perfStatsMask", k.Facts.PerfStats))
}

// personal matches properties that may identify one machine.
var personal = regexp.MustCompile(`(?i)serial|uuid|unique|ecid|identifier`)

// device adds the properties of _ANEDeviceInfo, and those of the IORegistry that begin with
// ANEDeviceProperty: a later system may add personal ones.
func (e *envelope) device(r objcbridge.Report) {
	if d := r.Device; d != nil {
		answers := plist.Dict{}
		for _, answer := range plist.Of("hasANE", d.HasANE, "numANEs", int64(d.Engines), "numANECores", int64(d.Cores),
			"aneArchitectureType", d.Architecture, "aneSubType", d.Subtype, "aneSubTypeVariant", d.Variant,
			"aneBoardType", d.Board, "productName", d.Product, "buildVersion", d.Build,
			"isVirtualMachine", d.VirtualMachine, "isInternalBuild", d.InternalBuild) {
			reported := false
			switch v := answer.Value.(type) {
			case objcbridge.Answer:
				reported = v == objcbridge.AnswerYes || v == objcbridge.AnswerNo
			case int64:
				reported = v >= 0
			case string:
				reported, answer.Value = v != "", e.scrub.text(v)
			}
			if reported {
				answers = append(answers, answer)
			}
		}
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
		var value any = e.scrub.text(p.Value)
		if n, err := strconv.ParseInt(p.Value, 10, 64); err == nil {
			value = n
		}
		services[at].Value = append(services[at].Value.(plist.Dict), plist.Entry{Key: p.Name, Value: value})
	}
	e.add("ioreg", services)
	if r.Unread != "" {
		e.add("ioreg_error", e.scrub.text(cli.OneLine(r.Unread)))
	}
}

func (e *envelope) selfCheck(r objcbridge.Report) {
	rows := plist.Array{}
	for _, c := range r.Checks {
		rows = append(rows, plist.Of("class", c.Class, "selector", c.Selector, "class_method", c.ClassMethod,
			"required", c.Required, "expected", c.Expected, "found", c.Found, "status", c.Status))
	}
	e.add("self_check", rows)
}

// errors adds the errors of the framework.
func (e *envelope) errors(met []apple.Met) {
	rows := plist.Array{}
	for _, m := range met {
		b := m.Err
		row := plist.Of("stage", b.Stage.String(), "kind", b.Kind.String(), "domain", e.scrub.text(b.Domain), "code", b.Code,
			"text", e.scrub.text(b.Message))
		var info plist.Dict
		if b.HasStatus && b.StatusType == 0 {
			info = plist.Of("_ANEErrorUnderlyingStatus", b.Status)
		}
		if b.LoadStage != 0 {
			info = append(info, plist.Of("_ANEErrorLoadStage", b.LoadStage)...)
		}
		if info != nil {
			row = append(row, plist.Of("userInfo", info)...)
		}
		var causes plist.Array
		for _, c := range b.Causes {
			causes = append(causes,
				plist.Of("domain", e.scrub.text(c.Domain), "code", c.Code, "text", e.scrub.text(c.Message)))
		}
		if causes != nil {
			row = append(row, plist.Of("underlying", causes)...)
		}
		rows = append(rows, append(row, plist.Of("recovered", m.Recovered, "times", m.Count)...))
	}
	e.add("errors", rows)
}

// roundTrip adds the figures of every model, and every check.
func (e *envelope) roundTrip(t check.EngineResult) {
	models := plist.Array{}
	for _, row := range t.Rows {
		if row.Error != "" {
			models = append(models, plist.Of("name", row.Name, "error", e.scrub.text(row.Error)))
		} else {
			models = append(models, row)
		}
	}
	checks, verdict := plist.Array{}, cli.VerdictPass
	for _, c := range t.Checks {
		c.Detail = e.scrub.text(c.Detail)
		checks = append(checks, c)
		if c.Status == trial.Fail {
			verdict = cli.VerdictFail
		}
	}
	e.add("round_trip", models, "checks", checks, "verdict", verdict)
}
