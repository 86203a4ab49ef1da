package main

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/internal/near"
)

// port is NAME=FILE: the tensor of a program and the file that a flag reads or writes for it.
type port struct {
	name, path string
	key        string // of the array in an .npz archive; empty for other files
	archive    bool   // path ends with .npz
}

// Extensions of archives, and of files of one array.
const (
	npz    = ".npz"
	single = ".npy"
)

// parsePort reads NAME=FILE.npy, NAME=FILE.npz:KEY or NAME=-.
func parsePort(flag, s string) (port, error) {
	name, file, ok := strings.Cut(s, "=")
	if !ok || name == "" || file == "" {
		return port{}, badf("%s %q; give NAME=FILE.npy, NAME=FILE.npz:KEY or NAME=-", flag, s)
	}
	if path, key, found := cutKey(file, npz); found {
		if key == "" {
			return port{}, badf("%s %q lacks the key of an array; give %s %s=%s:KEY", flag, s, flag, name, path)
		}
		return port{name: name, path: path, key: key, archive: true}, nil
	}
	if path, _, found := cutKey(file, single); found {
		return port{}, badf("%s %q: a .npy file has one array and no keys; give %s %s=%s or %s=FILE.npz:KEY", flag, s,
			flag, name, path, name)
	}
	if strings.HasPrefix(file, stdio+":") {
		return port{}, badf("%s %q: standard input and output have one array and no keys; "+
			"give %s %s=- or %s=FILE.npz:KEY",
			flag, s, flag, name, name)
	}
	if strings.EqualFold(filepath.Ext(file), npz) {
		return port{name: name, path: file, key: name, archive: true}, nil
	}
	return port{name: name, path: file}, nil
}

// cutKey splits FILE:KEY after the last FILE that ends in the extension, in any case.
func cutKey(s, extension string) (file, key string, found bool) {
	for i := len(s) - 1; i >= len(extension); i-- {
		if s[i] == ':' && strings.EqualFold(s[i-len(extension):i], extension) {
			return s[:i], s[i+1:], true
		}
	}
	return "", "", false
}

// String is the file as reports name it.
func (p port) String() string {
	if p.archive {
		return p.path + ":" + p.key
	}
	return p.path
}

// ports are the values of a flag that may be given several times.
type ports []port

func parsePorts(flag string, args []string) (ports, error) {
	var all ports
	for _, s := range args {
		p, err := parsePort(flag, s)
		if err != nil {
			return nil, err
		}
		if _, duplicate := all.find(p.name); duplicate {
			return nil, badf("%s names %s twice; give one file for each", flag, p.name)
		}
		all = append(all, p)
	}
	return all, nil
}

// find returns the port of the tensor called name.
func (all ports) find(name string) (port, bool) {
	for _, p := range all {
		if p.name == name {
			return p, true
		}
	}
	return port{}, false
}

// known rejects names that the program does not have.
func (all ports) known(flag string, layouts []ane.Layout) error {
	var names []string
	for _, l := range layouts {
		names = append(names, l.Name)
	}
	for _, p := range all {
		if !slices.Contains(names, p.name) {
			return badf("%s %s: the program has no such tensor; %s", flag, p.name, near.Choices(p.name, "it has",
				names))
		}
	}
	return nil
}
