package main

import (
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/anekit/anekit/ane/chip"
	"github.com/anekit/anekit/ane/engine"
	"github.com/anekit/anekit/ane/mil"
	millint "github.com/anekit/anekit/ane/mil/lint"
	"github.com/anekit/anekit/ane/numerics"
	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/bench"
	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/check"
	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/cli"
	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/image"
	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/manual"
	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/probe"
	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/tensorfile"
	"github.com/anekit/anekit/models/decoder"
)

// completions registers what the shell completes: engines, filters, faults, checks, files, and the functions and
// tensors of the program on the command line.
func completions(a *cli.App, root *cobra.Command) {
	const none = cobra.ShellCompDirectiveNoFileComp
	flags := map[string]cobra.CompletionFunc{
		"compare":  cobra.FixedCompletions(comparisons(), none),
		"engine":   cobra.FixedCompletions(engine.Names(), none),
		"emulate":  cobra.FixedCompletions(chips()[:2*len(chip.All())], none),
		"numerics": cobra.FixedCompletions(numerics.Names(), none),
		"filter":   cobra.FixedCompletions(image.Filters(), none),
		"inject":   cobra.FixedCompletions(append(check.Injectable(), check.GPUCopy), none),
		"gpu":      cobra.NoFileCompletions,

		"require-shown": cobra.FixedCompletions(check.ClaimNames(), none),
		"function":      functionNames,
		"only": func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return check.OnlyChoices(), none
		},
		"fill": cobra.FixedCompletions([]string{"zeros", "ones", "random:"},
			none|cobra.ShellCompDirectiveNoSpace),
		"fill-weights": cobra.FixedCompletions([]string{"random:"}, none|cobra.ShellCompDirectiveNoSpace),
		"dialect":      cobra.FixedCompletions([]string{"old", "new"}, none),
		"chip":         cobra.FixedCompletions(chips(), none),
		"engines":      cobra.FixedCompletions([]string{"1", "2"}, none),
		"road":         cobra.FixedCompletions(cli.Names(chip.Roads()), none),
		"os": cobra.FixedCompletions([]string{"macos12", "macos13", "macos14", "macos15", "macos26",
			"macos27"}, none),
		"explain":    cobra.FixedCompletions(lintRuleNames(), none),
		"mil":        extensions("mil"),
		"guest":      extensions("wasm"),
		"policy":     extensions("json"),
		"trace":      extensions("json"),
		"report":     extensions("html", "json"),
		"model-path": directories,
		"model":      directories,
		"size":       cobra.FixedCompletions(bench.Sizes(), none),
		"form":       cobra.FixedCompletions(cli.Names(decoder.Forms()), none),
		"cache":      directories,
		"dir":        directories,
		"plots":      directories,
		"in":         tensors(inputsOf),
		"out":        tensors(resultsOf),
		"expect":     tensors(resultsOf),
	}
	for _, cmd := range cli.EveryCommand(root) {
		for name, complete := range flags {
			if cmd.Flag(name) != nil {
				// This fails for a flag that several commands share and that has a function already.
				_ = cmd.RegisterFlagCompletionFunc(name, complete)
			}
		}
		switch cmd.Name() {
		case "check":
			cmd.ValidArgsFunction = cobra.NoFileCompletions
			if cmd.HasParent() && cmd.Parent().Name() == "weights" {
				cmd.ValidArgsFunction = extensions("safetensors", "json")
			}
		case "run", "fmt", "inspect", "lint", "cost":
			cmd.ValidArgsFunction = extensions("mil")
		case "image":
			cmd.ValidArgsFunction = extensions("png", "jpg", "jpeg")
		case "weights", "repack":
			cmd.ValidArgsFunction = extensions("safetensors", "json")
			if cmd.Parent().Name() == "bench" {
				cmd.ValidArgsFunction = cobra.NoFileCompletions
			}
		case "probe":
			cmd.ValidArgsFunction = cobra.FixedCompletions(probe.Names(), none)
		case "help", "man", "schema":
		default:
			cmd.ValidArgsFunction = cobra.NoFileCompletions
		}
	}
	root.ValidArgsFunction = nil // cobra completes the names of the commands
	manual.CompletionCommand(root)
}

// chips lists the chips in both spellings.
func chips() (all []string) {
	for _, c := range chip.All() {
		all = append(all, c.String(), c.Target())
	}
	return append(all, "all")
}

// lintRuleNames lists the rules of lint.
func lintRuleNames() (all []string) {
	for _, r := range millint.Rules() {
		all = append(all, r.ID)
	}
	return all
}

// comparisons lists reference with each chip.
func comparisons() (all []string) {
	for _, name := range numerics.Names()[1:] {
		all = append(all, numerics.Reference.String()+","+name)
	}
	return all
}

// extensions completes files with one of the extensions.
func extensions(all ...string) cobra.CompletionFunc {
	return func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return all, cobra.ShellCompDirectiveFilterFileExt
	}
}

func directories(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return nil, cobra.ShellCompDirectiveFilterDirs
}

// Limits of the work of a completion, for which the user waits.
const (
	maxRead  = 1 << 20 // bytes of the program
	maxFiles = 500
)

// tensors completes NAME=FILE: before the = names of tensors of the program, after it files with arrays.
func tensors(names func(*mil.Function) []string) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
		const none = cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
		name, file, named := strings.Cut(typed, "=")
		var all []string
		if !named {
			if f := functionOf(cmd, args); f != nil {
				for _, n := range names(f) {
					all = append(all, n+"=")
				}
			}
			return all, none
		}
		dir, _ := filepath.Split(file)
		entries, err := os.ReadDir(filepath.Join(dir, "."))
		if err != nil {
			return nil, none
		}
		for _, e := range entries {
			path := dir + e.Name()
			ext := strings.ToLower(filepath.Ext(path))
			if e.IsDir() {
				path += string(filepath.Separator)
			} else if ext != ".npy" && ext != tensorfile.Npz {
				continue
			}
			if strings.HasPrefix(path, file) && len(all) < maxFiles {
				all = append(all, name+"="+path)
			}
		}
		return all, none
	}
}

// functionNames completes the functions of the program that the command line names so far.
func functionNames(cmd *cobra.Command, args []string, _ string) (names []string, _ cobra.ShellCompDirective) {
	if p := programOf(cmd, args); p != nil {
		for _, f := range p.Funcs {
			names = append(names, f.Name)
		}
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}

// functionOf returns the function that the command line names so far; nil if there is no program that can be read.
func functionOf(cmd *cobra.Command, args []string) *mil.Function {
	p := programOf(cmd, args)
	if p == nil || len(p.Funcs) == 0 {
		return nil
	}
	name := ""
	if f := cmd.Flag("function"); f != nil {
		name = f.Value.String()
	}
	return p.Select(name)
}

// programOf returns the program that the command line names so far, as its first operand or by --mil; nil if there is
// none that can be read.
func programOf(cmd *cobra.Command, args []string) *mil.Program {
	path := ""
	if len(args) > 0 {
		path = args[0]
	} else if f := cmd.Flag("mil"); f != nil {
		path = f.Value.String()
	}
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() {
		return nil
	}
	f, err := os.Open(path)
	if err != nil {
		return nil
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxRead))
	if err != nil {
		return nil
	}
	p, err := mil.ParseTree(path, text)
	if err != nil {
		return nil
	}
	return p
}

func inputsOf(f *mil.Function) (names []string) {
	for _, v := range f.Params {
		names = append(names, v.Name)
	}
	return names
}

func resultsOf(f *mil.Function) (names []string) {
	for _, r := range f.Results {
		names = append(names, r.Name)
	}
	return names
}
