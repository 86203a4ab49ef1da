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
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" && info.Main.Version != "(devel)" {
		return info.Main.Version
	}
	return "devel"
}

// VersionText is what --version prints after the name of the command.
func VersionText() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		info = &debug.BuildInfo{}
	}
	return Version() + "\n" + provenance(info)
}

// provenance returns the lines on module, commit and compiler. The Go command records the commit of a checkout unless
// it runs or tests the program at once; a version between tags names it too.
func provenance(info *debug.BuildInfo) string {
	module, commit, modified := "unknown", "unknown", ""
	if info.Main.Path != "" {
		module = info.Main.Path + " " + info.Main.Version
	}
	between := regexp.MustCompile(`[-.]\d{14}-([0-9a-f]{12})`).FindStringSubmatch(info.Main.Version)
	if between != nil {
		commit = between[1]
	}
	for _, s := range info.Settings {
		switch {
		case s.Key == "vcs.revision":
			commit = s.Value
		case s.Key == "vcs.modified" && s.Value == "true":
			modified = ", with changes"
		}
	}
	return "module " + module + "\ncommit " + commit + modified + "\nbuilt with " + runtime.Version() + " for " +
		host.Platform
}

// Built returns the time of the commit that the binary was built from; the time of a report if the binary does not
// record it.
func Built() time.Time {
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, s := range info.Settings {
			if s.Key == "vcs.time" {
				if t, err := time.Parse(time.RFC3339, s.Value); err == nil {
					return t
				}
			}
		}
	}
	return clock()
}
