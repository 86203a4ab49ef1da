package coreml

import "strings"

const (
	again = `convert the model that it was made of again, with coremltools.convert(.., convert_to="mlprogram")`
	build = `compute the same in PyTorch, and convert that with coremltools.convert(.., convert_to="mlprogram")`
	cpu   = "it runs on the CPU alone; evaluate it with the library that made it"
	apple = "its weights belong to Apple's system, and no file has them"
	app   = "what it computes is code of an application"
)

// others says what each kind of model without a program is, and what to do. The names are those of Core ML's format.
var others = map[string][2]string{
	"neuralNetwork":               {"a neural network of the older format", again},
	"neuralNetworkClassifier":     {"a classifier of the older neural network format", again},
	"neuralNetworkRegressor":      {"a regressor of the older neural network format", again},
	"glmRegressor":                {"a linear regressor", build},
	"glmClassifier":               {"a linear classifier", build},
	"supportVectorRegressor":      {"a support vector regressor", build},
	"supportVectorClassifier":     {"a support vector classifier", build},
	"treeEnsembleRegressor":       {"a tree ensemble regressor", cpu},
	"treeEnsembleClassifier":      {"a tree ensemble classifier", cpu},
	"bayesianProbitRegressor":     {"a Bayesian probit regressor", cpu},
	"kNearestNeighborsClassifier": {"a nearest neighbours classifier", cpu},
	"itemSimilarityRecommender":   {"a recommender", cpu},
	"customModel":                 {"a custom model", app},
	"linkedModel":                 {"a link to another model", "open the model that it links to"},
	"classConfidenceThresholding": {"thresholds of confidence, without a program", cpu},
	"oneHotEncoder":               {"a one-hot encoder of features", build},
	"imputer":                     {"a step that fills in missing features", build},
	"featureVectorizer":           {"a step that joins features", build},
	"dictVectorizer":              {"a step that joins features", build},
	"scaler":                      {"a step that scales features", build},
	"categoricalMapping":          {"a step that maps categories", build},
	"normalizer":                  {"a step that normalizes features", build},
	"arrayFeatureExtractor":       {"a step that picks features", build},
	"nonMaximumSuppression":       {"a step that suppresses boxes which overlap", cpu},
	"identity":                    {"an identity, without a program", build},
	"textClassifier":              {"a text classifier of Create ML", apple},
	"wordTagger":                  {"a word tagger of Create ML", apple},
	"visionFeaturePrint":          {"Apple's own network for pictures", apple},
	"soundAnalysisPreprocessing":  {"Apple's own step for sound", apple},
	"gazetteer":                   {"a gazetteer of Create ML", apple},
	"wordEmbedding":               {"a word embedding of Create ML", apple},
	"audioFeaturePrint":           {"Apple's own network for sound", apple},
	"serializedModel":             {"a private kind of model", "take the model that it was made of"},
}

// unprogrammed returns the error of a model without a program.
func unprogrammed(file, kind string) *Error {
	if strings.HasPrefix(kind, "pipeline") {
		return refused(file, ErrKind, "its parts say what each is", "no part of the pipeline has a program")
	}
	if o, ok := others[kind]; ok {
		return refused(file, ErrKind, o[1], "%s (%s), not an ML program", o[0], kind)
	}
	return refused(file, ErrKind, again, "a model of the kind %q, not an ML program", short(kind))
}
