package cli

import (
	"runtime/debug"
	"testing"

	"github.com/stretchr/testify/require"
)

// The lines of --version say what the Go command records in a binary, and that it recorded nothing.
func TestProvenance(t *testing.T) {
	const path, commit = "github.com/anekit/anekit", "6450fa903b6b98d8b5a7aa5253cf8f49f87010c5"
	checkout := []debug.BuildSetting{{Key: "vcs", Value: "git"}, {Key: "vcs.revision", Value: commit},
		{Key: "vcs.modified", Value: "false"}}
	changed := []debug.BuildSetting{{Key: "vcs.revision", Value: commit}, {Key: "vcs.modified", Value: "true"}}
	for _, c := range []struct {
		how      string
		module   debug.Module
		settings []debug.BuildSetting
		want     string
	}{
		{"no record", debug.Module{}, nil, "module unknown\ncommit unknown\n"},
		{"go run", debug.Module{Path: path, Version: "(devel)"}, nil, "module " + path + " (devel)\ncommit unknown\n"},
		{"go build in a checkout of a tag", debug.Module{Path: path, Version: "v0.1.0"}, checkout,
			"module " + path + " v0.1.0\ncommit " + commit + "\n"},
		{"go build with changes", debug.Module{Path: path, Version: "v0.1.1-0.20261127170012-6450fa903b6b+dirty"}, changed,
			"module " + path + " v0.1.1-0.20261127170012-6450fa903b6b+dirty\ncommit " + commit + ", with changes\n"},
		{"go install at a tag", debug.Module{Path: path, Version: "v0.1.0"}, nil,
			"module " + path + " v0.1.0\ncommit unknown\n"},
		{"go install at a branch", debug.Module{Path: path, Version: "v0.0.0-20261127170012-6450fa903b6b"}, nil,
			"module " + path + " v0.0.0-20261127170012-6450fa903b6b\ncommit 6450fa903b6b\n"},
	} {
		got := provenance(&debug.BuildInfo{Main: c.module, Settings: c.settings})
		require.Contains(t, got, c.want+"built with go", c.how)
	}
}
