package sniff

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/anekit/anekit/internal/wholefile"
)

// maxNames bounds the names of a folder that are looked at.
const maxNames = 10_000

// folder looks at a folder: at its name and those in it.
func folder(path string) Found {
	dir, err := os.Open(path)
	if err != nil {
		return missing(path, err)
	}
	defer dir.Close() // it was only read
	names, err := dir.Readdirnames(maxNames)
	if err != nil && len(names) == 0 {
		names = nil // empty, or the system tells nothing of it
	}
	has := func(name string) bool { return slices.Contains(names, name) }
	ends := func(end string) bool {
		return slices.ContainsFunc(names, func(name string) bool { return strings.HasSuffix(name, end) })
	}
	clean := strings.ToLower(strings.TrimRight(path, string(filepath.Separator)))
	switch {
	case strings.HasSuffix(clean, ".mlpackage"), isDir(filepath.Join(path, "Data", "com.apple.CoreML")):
		return found(Package, path)
	case strings.HasSuffix(clean, ".mlmodelc"), has("model.mil"), has("coremldata.bin"):
		f := found(Compiled, path)
		if ends(".espresso.net") && !has("model.mil") {
			f = found(OldNet, path)
			f.What = "a compiled neural network"
		}
		return f
	case has("saved_model.pb"):
		return found(SavedModel, path)
	case has("config.json") && (ends(".safetensors") || has("model.safetensors.index.json") || has("tokenizer.json")),
		ends(".safetensors"):
		return found(ModelFolder, path)
	case has("config.json") && ends(".bin"), has("pytorch_model.bin"):
		f := found(PyTorch, path)
		f.What = "a Hugging Face folder of PyTorch files"
		return f
	case has("snapshots") && strings.HasPrefix(filepath.Base(path), repositories):
		return cached(path, path)
	}
	return holding(path, names)
}

// maxNamed is how many models in a folder a message names.
const maxNamed = 4

// holding describes a folder by the models in it.
func holding(path string, names []string) Found {
	f := found(Folder, path)
	var models []string
	for _, name := range names {
		switch strings.ToLower(filepath.Ext(name)) {
		case ".mlpackage", ".mlmodelc", ".mlmodel", ".mil":
			models = append(models, filepath.Join(path, name))
		}
	}
	slices.Sort(models)
	switch n := len(models); {
	case len(names) == 0:
		f.What = "an empty folder"
	case n == 1:
		f.What, f.Next = "a folder with a model", "give "+models[0]
	case n > 1:
		f.What = fmt.Sprintf("a folder with %d models", n)
		f.Next = "give one of them: " + strings.Join(models[:min(n, maxNamed)], ", ")
		if n > maxNamed {
			f.Next += ", ..."
		}
	}
	return f
}

func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// repositories begins the names of folders in the hub's cache.
const repositories = "models--"

// hub looks up a path that leads nowhere in the local cache of the hub; false if it cannot be an id, ORG/NAME.
func hub(path string) (Found, bool) {
	org, name, ok := strings.Cut(path, "/")
	if !ok || org == "" || name == "" || strings.ContainsAny(path, "\\ ") || strings.Contains(name, "/") ||
		!fs.ValidPath(path) || known(filepath.Ext(name)) || isDir(org) {
		return Found{}, false
	}
	f := found(Hub, path)
	f.What, f.Next = "no path, but may be the id of a model on a hub", "download it, and give the folder"
	for _, dir := range caches() {
		if repository := filepath.Join(dir, repositories+org+"--"+name); isDir(repository) {
			return cached(path, repository), true
		}
	}
	return f, true
}

// known reports whether an extension is that of a file that a message should call missing.
func known(ext string) bool {
	switch strings.ToLower(ext) {
	case ".mil", ".mlpackage", ".mlmodelc", ".mlmodel", ".safetensors", ".bin", ".npy", ".npz", ".json", ".onnx", ".pt",
		".pth", ".gguf", ".png", ".jpg", ".jpeg", ".txt", ".zip":
		return true
	}
	return false
}

// caches lists the folders in which the hub's own tools may keep models, the first that is set first.
func caches() (all []string) {
	if dir := os.Getenv("HF_HUB_CACHE"); dir != "" {
		all = append(all, dir)
	}
	if dir := os.Getenv("HF_HOME"); dir != "" {
		all = append(all, filepath.Join(dir, "hub"))
	}
	if dir := os.Getenv("XDG_CACHE_HOME"); dir != "" {
		all = append(all, filepath.Join(dir, "huggingface", "hub"))
	}
	if dir, err := os.UserHomeDir(); err == nil {
		all = append(all, filepath.Join(dir, ".cache", "huggingface", "hub"))
	}
	return all
}

// cached describes the snapshots of a repository in the cache.
func cached(path, repository string) Found {
	f := found(Hub, path)
	f.What, f.Next = "the id of a model whose files are not in the hub's cache", "download it, and give the folder"
	revision := ""
	if main, err := wholefile.Read(filepath.Join(repository, "refs", "main"), maxNamed*Enough); err == nil {
		revision = strings.TrimSpace(string(main))
	}
	entries, _ := os.ReadDir(filepath.Join(repository, "snapshots"))
	if revision == "" || !filepath.IsLocal(revision) || !isDir(filepath.Join(repository, "snapshots", revision)) {
		if revision = ""; len(entries) > 0 {
			revision = entries[0].Name()
		}
	}
	if revision == "" {
		return f
	}
	dir := filepath.Join(repository, "snapshots", revision)
	in := folder(dir)
	f.What, f.Next = "no path; the hub's cache has "+in.What+" of that name", "give "+dir
	return f
}
