package coreml

import "google.golang.org/protobuf/encoding/protowire"

// field is one field of a message.
type field struct {
	name string
	is   string // varint, string, float, double, varints, floats, doubles, or the message that it holds
}

// What a field holds, beside messages. Several varints, floats or doubles are packed into one field, or have a field
// each.
const (
	varint  = "varint" // an integer, a bool or a number of an enumeration
	text    = "string" // or bytes
	float   = "float"
	double  = "double"
	varints = "varints"
	floats  = "floats"
	doubles = "doubles"
	other   = "other" // a message whose content is not read
)

// wire returns the wire type of a single value.
func (f field) wire() protowire.Type {
	switch f.is {
	case varint, varints:
		return protowire.VarintType
	case float, floats:
		return protowire.Fixed32Type
	case double, doubles:
		return protowire.Fixed64Type
	default:
		return protowire.BytesType
	}
}

// packed reports whether several values may share one field.
func (f field) packed() bool { return f.is == varints || f.is == floats || f.is == doubles }

// fields are the fields of one message, by their numbers.
type fields map[protowire.Number]field

// format is Core ML's format: the messages of Model.proto, FeatureTypes.proto, NonMaximumSuppression.proto and
// MIL.proto that are read here. A map of the format is a list of entries with a key and a value.
var format = map[string]fields{
	"Model": {
		1: {"specificationVersion", varint}, 2: {"description", "ModelDescription"}, 10: {"isUpdatable", varint},
		200: {"pipelineClassifier", "Pipelined"}, 201: {"pipelineRegressor", "Pipelined"},
		202: {"pipeline", "Pipeline"},
		300: {"glmRegressor", other}, 301: {"supportVectorRegressor", other}, 302: {"treeEnsembleRegressor", other},
		303: {"neuralNetworkRegressor", other}, 304: {"bayesianProbitRegressor", other},
		400: {"glmClassifier", other}, 401: {"supportVectorClassifier", other}, 402: {"treeEnsembleClassifier", other},
		403: {"neuralNetworkClassifier", other}, 404: {"kNearestNeighborsClassifier", other},
		500: {"neuralNetwork", other}, 501: {"itemSimilarityRecommender", other}, 502: {"mlProgram", "Program"},
		555: {"customModel", other}, 556: {"linkedModel", other}, 560: {"classConfidenceThresholding", other},
		600: {"oneHotEncoder", other}, 601: {"imputer", other}, 602: {"featureVectorizer", other},
		603: {"dictVectorizer", other}, 604: {"scaler", other}, 606: {"categoricalMapping", other},
		607: {"normalizer", other}, 609: {"arrayFeatureExtractor", other},
		610: {"nonMaximumSuppression", "NonMaximumSuppression"}, 900: {"identity", other},
		2000: {"textClassifier", other}, 2001: {"wordTagger", other}, 2002: {"visionFeaturePrint", other},
		2003: {"soundAnalysisPreprocessing", other}, 2004: {"gazetteer", other}, 2005: {"wordEmbedding", other},
		2006: {"audioFeaturePrint", other}, 3000: {"serializedModel", other},
	},
	"Pipelined": {1: {"pipeline", "Pipeline"}},
	"Pipeline":  {1: {"models", "Model"}, 2: {"names", text}},

	"ModelDescription": {
		1: {"input", "FeatureDescription"}, 10: {"output", "FeatureDescription"}, 11: {"predictedFeatureName", text},
		12: {"predictedProbabilitiesName", text}, 13: {"state", "FeatureDescription"},
		20: {"functions", "FunctionDescription"}, 21: {"defaultFunctionName", text}, 50: {"trainingInput", other},
		100: {"metadata", "Metadata"},
	},
	"FunctionDescription": {
		1: {"name", text}, 2: {"input", "FeatureDescription"}, 3: {"output", "FeatureDescription"},
		4: {"predictedFeatureName", text}, 5: {"predictedProbabilitiesName", text}, 6: {"state", "FeatureDescription"},
	},
	"Metadata": {
		1: {"shortDescription", text}, 2: {"versionString", text}, 3: {"author", text}, 4: {"license", text},
		100: {"userDefined", "Entry:text"},
	},
	"FeatureDescription": {1: {"name", text}, 2: {"shortDescription", text}, 3: {"type", "FeatureType"}},
	"FeatureType": {
		1: {"int64Type", other}, 2: {"doubleType", other}, 3: {"stringType", other},
		4: {"imageType", "ImageFeatureType"},
		5: {"multiArrayType", "ArrayFeatureType"}, 6: {"dictionaryType", other}, 7: {"sequenceType", other},
		8: {"stateType", "StateFeatureType"}, 1000: {"isOptional", varint},
	},
	"StateFeatureType": {1: {"arrayType", "ArrayFeatureType"}},
	"ArrayFeatureType": {
		1: {"shape", varints}, 2: {"dataType", varint}, 21: {"enumeratedShapes", "EnumeratedShapes"},
		31: {"shapeRange", "ShapeRange"}, 41: {"intDefaultValue", varint}, 51: {"floatDefaultValue", float},
		61: {"doubleDefaultValue", double},
	},
	"EnumeratedShapes": {1: {"shapes", "Shape"}},
	"Shape":            {1: {"shape", varints}},
	"ShapeRange":       {1: {"sizeRanges", "SizeRange"}},
	"SizeRange":        {1: {"lowerBound", varint}, 2: {"upperBound", varint}},
	"ImageFeatureType": {
		1: {"width", varint}, 2: {"height", varint}, 3: {"colorSpace", varint},
		21: {"enumeratedSizes", "EnumeratedImageSizes"}, 31: {"imageSizeRange", "ImageSizeRange"},
	},
	"EnumeratedImageSizes": {1: {"sizes", "ImageSize"}},
	"ImageSize":            {1: {"width", varint}, 2: {"height", varint}},
	"ImageSizeRange":       {1: {"widthRange", "SizeRange"}, 2: {"heightRange", "SizeRange"}},

	"NonMaximumSuppression": {
		1: {"pickTop", "PickTop"}, 100: {"stringClassLabels", "StringVector"}, 101: {"int64ClassLabels", "Int64Vector"},
		110: {"iouThreshold", double}, 111: {"confidenceThreshold", double}, 200: {"confidenceInputFeatureName", text},
		201: {"coordinatesInputFeatureName", text}, 202: {"iouThresholdInputFeatureName", text},
		203: {"confidenceThresholdInputFeatureName", text}, 210: {"confidenceOutputFeatureName", text},
		211: {"coordinatesOutputFeatureName", text},
	},
	"PickTop":      {1: {"perClass", varint}},
	"StringVector": {1: {"vector", text}},
	"Int64Vector":  {1: {"vector", varints}},

	"Program": {
		1: {"version", varint}, 2: {"functions", "Entry:Function"}, 3: {"docString", text},
		4: {"attributes", "Entry:Value"},
	},
	"Function": {
		1: {"inputs", "NamedValueType"}, 2: {"opset", text}, 3: {"block_specializations", "Entry:Block"},
		4: {"attributes", "Entry:Value"},
	},
	"Block": {
		1: {"inputs", "NamedValueType"}, 2: {"outputs", text}, 3: {"operations", "Operation"},
		4: {"attributes", "Entry:Value"},
	},
	"Operation": {
		1: {"type", text}, 2: {"inputs", "Entry:Argument"}, 3: {"outputs", "NamedValueType"}, 4: {"blocks", "Block"},
		5: {"attributes", "Entry:Value"},
	},
	"Argument":       {1: {"arguments", "Binding"}},
	"Binding":        {1: {"name", text}, 2: {"value", "Value"}},
	"NamedValueType": {1: {"name", text}, 2: {"type", "ValueType"}},
	"ValueType": {
		1: {"tensorType", "TensorType"}, 2: {"listType", "ListType"}, 3: {"tupleType", "TupleType"},
		4: {"dictionaryType", "DictionaryType"}, 5: {"stateType", "StateType"},
	},
	"TensorType": {
		1: {"dataType", varint}, 2: {"rank", varint}, 3: {"dimensions", "Dimension"}, 4: {"attributes", "Entry:Value"},
	},
	"ListType":          {1: {"type", "ValueType"}, 2: {"length", "Dimension"}},
	"TupleType":         {1: {"types", "ValueType"}},
	"DictionaryType":    {1: {"keyType", "ValueType"}, 2: {"valueType", "ValueType"}},
	"StateType":         {1: {"wrappedType", "ValueType"}},
	"Dimension":         {1: {"constant", "ConstantDimension"}, 2: {"unknown", "UnknownDimension"}},
	"ConstantDimension": {1: {"size", varint}},
	"UnknownDimension":  {1: {"variadic", varint}},
	"Value": {
		1: {"docString", text}, 2: {"type", "ValueType"}, 3: {"immediateValue", "ImmediateValue"},
		5: {"blobFileValue", "BlobFileValue"},
	},
	"BlobFileValue": {1: {"fileName", text}, 2: {"offset", varint}},
	"ImmediateValue": {
		1: {"tensor", "TensorValue"}, 2: {"tuple", "Values"}, 3: {"list", "Values"},
		4: {"dictionary", "DictionaryValue"},
	},
	"Values":          {1: {"values", "Value"}},
	"DictionaryValue": {1: {"values", "KeyValuePair"}},
	"KeyValuePair":    {1: {"key", "Value"}, 2: {"value", "Value"}},
	"TensorValue": {
		1: {"floats", "RepeatedFloats"}, 2: {"ints", "RepeatedInts"}, 3: {"bools", "RepeatedInts"},
		4: {"strings", "RepeatedStrings"}, 5: {"longInts", "RepeatedInts"}, 6: {"doubles", "RepeatedDoubles"},
		7: {"bytes", "RepeatedBytes"},
	},
	"RepeatedFloats":  {1: {"values", floats}},
	"RepeatedDoubles": {1: {"values", doubles}},
	"RepeatedInts":    {1: {"values", varints}},
	"RepeatedStrings": {1: {"values", text}},
	"RepeatedBytes":   {1: {"values", text}},

	"Entry:text":     {1: {"key", text}, 2: {"value", text}},
	"Entry:Value":    {1: {"key", text}, 2: {"value", "Value"}},
	"Entry:Argument": {1: {"key", text}, 2: {"value", "Argument"}},
	"Entry:Function": {1: {"key", text}, 2: {"value", "Function"}},
	"Entry:Block":    {1: {"key", text}, 2: {"value", "Block"}},
}

// scalars are the scalar types of MIL.proto, by their numbers.
var scalars = map[uint64]string{
	1: "bool", 2: "string", 10: "fp16", 11: "fp32", 12: "fp64", 13: "bf16",
	21: "int8", 22: "int16", 23: "int32", 24: "int64", 25: "int4",
	31: "uint8", 32: "uint16", 33: "uint32", 34: "uint64", 35: "uint4", 36: "uint2", 37: "uint1", 38: "uint6",
	39: "uint3",
	40: "fp8e4m3fn", 41: "fp8e5m2",
}

// arrays are the scalar types of ArrayFeatureType, by their numbers.
var arrays = map[uint64]string{65568: "fp32", 65600: "fp64", 131104: "int32", 131080: "int8", 65552: "fp16"}

// colours are the colour layouts of ImageFeatureType, by their numbers.
var colours = map[uint64]string{10: Gray, 20: RGB, 30: BGR, 40: GrayFP16}
