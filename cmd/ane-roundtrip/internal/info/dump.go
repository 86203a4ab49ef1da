package info

import (
	"cmp"
	"encoding/json"
	"os"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/anekit/anekit/ane/engine"
	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/check"
	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/cli"
	"github.com/anekit/anekit/internal/engine/apple"
	"github.com/anekit/anekit/internal/engine/observe"
	"github.com/anekit/anekit/internal/engine/standin"
	"github.com/anekit/anekit/internal/host"
	"github.com/anekit/anekit/internal/libsystem"
	"github.com/anekit/anekit/internal/plist"
	"github.com/anekit/anekit/objcbridge"
)

// known is a Dict without what is not known: null, an empty text, a negative number.
func known(pairs ...any) plist.Dict {
	return slices.DeleteFunc(plist.Of(pairs...), func(e plist.Entry) bool {
		text, err := json.Marshal(e.Value)
		return err == nil && (text[0] == '-' || string(text) == "null" || string(text) == `""`)
	})
}

// dump returns this machine in the form of testdata/dumps: the answers of the framework of the engine called name,
// which the stand-in replays. It adds the checks of a round trip, if there was one, and their verdict. unavailable is
// the reason why the engine was not opened, or nil.
func dump(name string, o *observe.Observation, unavailable error, trip check.EngineResult, verdict string) (
	any, error) {
	k, r, u, d := o.Known, o.Report, o.Usage(), objcbridge.Device{}
	var model, device any
	if k.Attributes != nil {
		model = k.Facts
	}
	if r.Device != nil {
		d = *r.Device
		device = known("hasANE", d.HasANE, "numANEs", d.Engines, "numANECores", d.Cores, "aneArchitectureType",
			d.Architecture, "aneSubType", d.Subtype, "aneSubTypeVariant", d.Variant, "aneBoardType", d.Board,
			"productName", d.Product, "buildVersion", d.Build, "isVirtualMachine", d.VirtualMachine,
			"isInternalBuild", d.InternalBuild)
	}
	methods := plist.Array{}
	for _, c := range r.Checks {
		methods = append(methods, plist.Of("class", c.Class, "selector", c.Selector, "class_method", c.ClassMethod,
			"required", c.Required, "expected", c.Expected, "found", c.Found, "status", c.Status))
	}
	what := "modelAttributes after load, self-check, device, registry, errors, round trips"
	if trip.Rows == nil {
		what, verdict = strings.TrimSuffix(what, ", round trips"), ""
	}
	version, _ := libsystem.SysctlString("kern.osproductversion") // "27.0.1"; none off a Mac
	system := strings.TrimSpace(cmp.Or(d.Product, host.Name) + " " + version)
	if d.Build != "" {
		system += " (" + d.Build + ")"
	}
	if replayed, ok := standin.Replayed(); ok && name == engine.StandIn {
		system = cmp.Or(replayed.OS, system) // the system that recorded the dump
	}
	text, err := json.Marshal(plist.Of("source", "ane-roundtrip info, engine "+name,
		"chip", cmp.Or(d.Architecture, runtime.GOARCH),
		"os", system,
		"program", "known-answer program y = 2x + 3 over tensor<fp16, [1, 64, 4, 32]>",
		"what", what,
		"trust", "written by the machine itself",
		"data", append(attributesOf(k), known("model", model, "device", device, "ioreg", registry(r.Registry),
			"ioreg_error", cli.OneLine(r.Unread), "self_check", methods, "errors", errorsOf(o.Met()),
			"unavailable", cli.ErrorText(unavailable),
			"known", plist.Of("opset", k.Opset, "text", k.Text),
			"versions", plist.Of("anekit", cli.Version(), "go", runtime.Version(), "system", host.Platform,
				"framework", r.Framework),
			"budget", plist.Of("compiles", u.Compiles, "loaded", u.Loaded, "program_limit", u.ProgramLimit),
			"open_ns", o.Opened, "round_trip", trip.Rows, "checks", trip.Checks, "verdict", verdict)...)))
	if err != nil {
		return nil, err
	}
	tree, err := plist.Read(text)
	return newScrubber(r.Library, r.Framework, os.Getenv(standin.EnvDump)).tree(tree), err
}

// attributesOf returns the modelAttributes of the known program, those that a dump does not need by themselves.
func attributesOf(k apple.Known) plist.Dict {
	if k.Attributes == nil {
		return nil
	}
	v, err := plist.Read(k.Attributes)
	all, ok := v.(plist.Dict)
	if !ok || err != nil {
		return plist.Of("attributes_text", string(k.Attributes))
	}
	wanted := func(e plist.Entry) bool { return e.Key == "ANEFModelDescription" || e.Key == "NetworkStatusList" }
	others := slices.DeleteFunc(slices.Clone(all), wanted)
	all = slices.DeleteFunc(all, func(e plist.Entry) bool { return !wanted(e) })
	if len(others) > 0 {
		all = append(all, plist.Entry{Key: "other_attributes", Value: others})
	}
	return all
}

// personal matches properties that may identify one machine.
var personal = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)serial|uuid|unique|ecid|identifier`)
})

// registry returns the properties of the IORegistry that begin with ANEDeviceProperty, by their service: a later system
// may add personal ones.
func registry(all []objcbridge.Property) any {
	services := map[string]map[string]any{}
	for _, p := range all {
		if !strings.HasPrefix(p.Name, "ANEDeviceProperty") || personal().MatchString(p.Name) {
			continue
		}
		if services[p.Service] == nil {
			services[p.Service] = map[string]any{}
		}
		services[p.Service][p.Name] = p.Value
		if n, err := strconv.ParseInt(p.Value, 10, 64); err == nil {
			services[p.Service][p.Name] = n
		}
	}
	return services
}

// errorsOf returns the errors of the framework.
func errorsOf(met []apple.Met) plist.Array {
	rows := plist.Array{}
	for _, m := range met {
		b := m.Err
		status := int64(-1)
		if b.HasStatus && b.StatusType == 0 {
			status = int64(b.Status)
		}
		var info any
		d := known("_ANEErrorUnderlyingStatus", status, "_ANEErrorLoadStage", cmp.Or(b.LoadStage, -1))
		if len(d) > 0 {
			info = d
		}
		row := plist.Of("stage", b.Stage.String(), "kind", b.Kind.String(), "domain", b.Domain, "code", b.Code,
			"text", b.Message)
		row = append(row, known("userInfo", info, "underlying", b.Causes)...)
		rows = append(rows, append(row, plist.Of("recovered", m.Recovered, "times", m.Count)...))
	}
	return rows
}
