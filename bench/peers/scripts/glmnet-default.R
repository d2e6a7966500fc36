# cv.glmnet at its defaults, on given folds, with an intercept and columns as they are.
# Arguments: the problem, its model, the fold of each row (int32). A line of standard
# input asks for one run; one with a number has the path end at that share of the largest
# strength instead. The criterion is the squared error, or the logistic loss, which
# is half of glmnet's deviance.
arguments <- commandArgs(TRUE)
suppressMessages(library(glmnet))
f <- file(arguments[1], "rb")
header <- readBin(f, "integer", 4, size = 4)
n <- header[1]
p <- header[2]
starts <- readBin(f, "integer", p + 1, size = 4)
rows <- readBin(f, "integer", header[3], size = 4)
values <- readBin(f, "double", header[3])
y <- readBin(f, "double", n)
close(f)
X <- sparseMatrix(i = rows, p = starts, x = values, dims = c(n, p), index1 = FALSE)
if (header[4] == 1) X <- as.matrix(X)
logistic <- arguments[2] == "logreg"
fold <- readBin(arguments[3], "integer", n, size = 4)
target <- if (logistic) factor(y) else y
writeLines(paste("glmnet", packageVersion("glmnet")))
flush(stdout())
input <- file("stdin", "r")
while (length(line <- readLines(input, 1)) > 0) {
  options <- list(x = X, y = target, family = if (logistic) "binomial" else "gaussian", foldid = fold + 1, standardize = FALSE)
  if (nzchar(line)) options$lambda.min.ratio <- as.numeric(line)
  clock <- Sys.time()
  m <- do.call(cv.glmnet, options)
  seconds <- as.numeric(difftime(Sys.time(), clock, units = "secs"))
  best <- which.min(m$cvm)
  cat(sprintf('{"seconds": %.9g, "value": %.17g, "lambda": %.17g}\n', seconds, m$cvm[best] / (if (logistic) 2 else 1), m$lambda[best]))
  flush(stdout())
}
