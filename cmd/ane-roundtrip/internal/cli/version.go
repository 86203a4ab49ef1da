package cli

import (
	"regexp"
	"runtime"
	"runtime/debug"
	"time"

	"github.com/anekit/anekit/internal/host"
)

// Version is the module version that the linker recorded, or "devel".
func Version() string {
	if v := recorded().Main.Version; v != "" && v != "(devel)" {
		return v
	}
	return "devel"
}

// VersionText is what --version prints after the name of the command.
func VersionText() string { return Version() + "\n" + provenance(recorded()) }

// Built returns the time of the commit that the binary was built from; the time of a report if the binary does not
// record it.
func Built() time.Time {
	if t, err := time.Parse(time.RFC3339, setting(recorded(), "vcs.time")); err == nil {
		return t
	}
	return clock()
}

// recorded is what the linker recorded; empty if that is nothing.
func recorded() *debug.BuildInfo {
	if info, ok := debug.ReadBuildInfo(); ok {
		return info
	}
	return &debug.BuildInfo{}
}

// provenance returns the lines on module, commit and compiler. The Go command records the commit of a checkout unless
// it runs or tests the program at once; a version between tags names it too.
func provenance(info *debug.BuildInfo) string {
	module, commit := "unknown", setting(info, "vcs.revision")
	if info.Main.Path != "" {
		module = info.Main.Path + " " + info.Main.Version
	}
	if commit == "" {
		commit = "unknown"
		if m := regexp.MustCompile(`[-.]\d{14}-([0-9a-f]{12})`).FindStringSubmatch(info.Main.Version); m != nil {
			commit = m[1]
		}
	}
	if setting(info, "vcs.modified") == "true" {
		commit += ", with changes"
	}
	return "module " + module + "\ncommit " + commit + "\nbuilt with " + runtime.Version() + " for " + host.Platform
}

// setting returns a recorded setting of the build; empty without it.
func setting(info *debug.BuildInfo, key string) string {
	for _, s := range info.Settings {
		if s.Key == key {
			return s.Value
		}
	}
	return ""
}
