package membench

var Vectors = writesVectors
