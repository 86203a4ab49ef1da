package sniff

// Kind is what a path leads to.
type Kind string

// The kinds.
const (
	MIL Kind = "MIL text"

	// Core ML in its forms.
	Package   Kind = "Core ML package"        // a folder NAME.mlpackage
	Compiled  Kind = "compiled Core ML model" // a folder NAME.mlmodelc
	Model     Kind = "Core ML model"          // a file NAME.mlmodel
	Weights   Kind = "weight file"            // weight.bin
	HWX       Kind = "program of the engine"  // what Apple's compiler of the engine writes
	OldNet    Kind = "compiled neural network"
	CoreMLBin Kind = "description of a compiled Core ML model" // coremldata.bin

	// Models and weights of other projects.
	Safetensors Kind = "safetensors file"
	Index       Kind = "index of safetensors files"
	ModelFolder Kind = "Hugging Face folder"
	Hub         Kind = "hub id" // ORG/NAME, which is no path
	PyTorch     Kind = "PyTorch file"
	Pickle      Kind = "pickle"
	ONNX        Kind = "ONNX model"
	GGUF        Kind = "GGUF file"
	TFLite      Kind = "TensorFlow Lite model"
	SavedModel  Kind = "TensorFlow folder"
	HDF5        Kind = "HDF5 file"

	// Arrays and pictures.
	Npy     Kind = ".npy file"
	Npz     Kind = ".npz archive"
	Picture Kind = "picture"

	// What stands where a file should be.
	LFS     Kind = "Git LFS pointer"
	Annex   Kind = "git-annex pointer"
	HTML    Kind = "HTML page"
	Empty   Kind = "empty file"
	Missing Kind = "missing file" // there is none, or the system does not show it: Found.Err says why

	// Everything else.
	Zip    Kind = "zip archive"
	Tar    Kind = "tar archive"
	Gzip   Kind = "gzip file"
	JSON   Kind = "JSON file"
	XML    Kind = "XML file"
	Plist  Kind = "property list"
	Text   Kind = "text"
	Binary Kind = "unknown format"
	Folder Kind = "folder"
	Stream Kind = "pipe or device"
)

// words returns what a thing of the kind is, and the next step.
func (k Kind) words() (what, next string) {
	const convert = ", and convert it with coremltools; see docs/MODELS.md"
	const unpack = "unpack it and give what is in it"
	switch k {
	case MIL:
		return "a MIL program", "run, inspect, lint, cost and fmt of ane-roundtrip take it"
	case Package, Compiled, Model:
		return "a " + string(k), "run, inspect, lint, cost and fmt of ane-roundtrip take it"
	case Weights:
		return "a weight file of a Core ML model", "give the .mlpackage or .mlmodelc folder that it lies in"
	case HWX:
		return "a program compiled for the engine", "give the MIL text or the Core ML package that it was compiled from"
	case OldNet:
		return "a part of a compiled neural network", "convert its source to an ML program with coremltools"
	case CoreMLBin:
		return "the description of a compiled Core ML model", "give the .mlmodelc folder that it lies in"
	case Safetensors:
		return "a safetensors file", "generate takes its folder, weights the file"
	case Index:
		return "an index of safetensors files", "generate takes its folder, weights the file"
	case ModelFolder:
		return "a Hugging Face folder", "generate --model takes it; for another model load it in PyTorch" + convert
	case PyTorch:
		return "a PyTorch file", "load it in PyTorch" + convert
	case Pickle:
		return "a Python pickle", "load it in Python, and save its tensors as safetensors"
	case ONNX:
		return "an ONNX model", "load it in PyTorch with onnx2torch" + convert
	case GGUF:
		return "a GGUF file", "give the safetensors that it was made of; see docs/MODELS.md"
	case TFLite:
		return "a TensorFlow Lite model", "take the TensorFlow model that it was made of" + convert
	case SavedModel:
		return "a TensorFlow SavedModel", "convert it with coremltools; see docs/MODELS.md"
	case HDF5:
		return "an HDF5 file, perhaps of Keras", "load it in Keras" + convert
	case Npy, Npz:
		return "a " + string(k), "run takes it as --in NAME=FILE"
	case Picture:
		return "a picture", "run takes it as --in NAME=FILE of a model with an input of pictures, image as an operand"
	case LFS:
		return "a Git LFS pointer", "run git lfs pull in its repository"
	case Annex:
		return "a git-annex pointer", "run git annex get in its repository"
	case HTML:
		return "an HTML page", "download the file again, not the page that shows it"
	case Empty:
		return "empty", "get the file again"
	case Missing:
		return "missing", "check the path"
	case Zip:
		return "a zip archive", unpack
	case Tar:
		return "a tar archive", unpack
	case Gzip:
		return "a gzip file", unpack
	case JSON:
		return "a JSON file", "give the folder or the model that it describes"
	case XML:
		return "an XML file", "if a server sent it in place of the file, download that again"
	case Plist:
		return "a property list", "give the folder or the model that it describes"
	case Text:
		return "text", "check the path"
	case Folder:
		return "a folder without a model", "give a MIL text, .mlpackage, .mlmodelc or .mlmodel"
	case Stream:
		return "a pipe or a device", "write it to a file first"
	}
	return "of no known format", "check the path"
}
