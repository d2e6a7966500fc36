package sparse

// What the tests of package sparse_test need from inside.
const (
	BufferSize     = bufferSize
	SmallestBuffer = window + 1
	MaxNumber      = maxNumber
)

var ReadWithBuffer = readSVMLight
