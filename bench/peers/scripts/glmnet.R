# glmnet at one strength. Variant "covariance" updates inner products, which is
# glmnet's own choice below 500 columns.
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
alpha <- as.numeric(arguments[3])
ridge <- as.numeric(arguments[4])
# glmnet scales y to mean square 1 and with it the l1 part of the penalty, but
# not the ridge: so that both mean what they say, y is scaled here.
scale <- if (arguments[2] == "logreg") 1 else sqrt(mean(y^2))
alpha <- alpha / scale
type <- if (arguments[5] == "covariance") "covariance" else if (p < 500) "covariance" else "naive"
glmnet.control(fdev = 0, devmax = 1, eps = 1e-15)
writeLines(paste("glmnet", packageVersion("glmnet")))
flush(stdout())
input <- file("stdin", "r")
while (length(line <- readLines(input, 1)) > 0) {
  common <- list(x = X, y = if (arguments[2] == "logreg") factor(y) else y / scale,
                 family = if (arguments[2] == "logreg") "binomial" else "gaussian",
                 alpha = alpha / (alpha + ridge), lambda = alpha + ridge, thresh = as.numeric(line),
                 maxit = 1e9, standardize = FALSE, intercept = FALSE)
  if (arguments[2] != "logreg") common$type.gaussian <- type
  clock <- Sys.time()
  m <- do.call(glmnet, common)
  seconds <- as.numeric(difftime(Sys.time(), clock, units = "secs"))
  b <- m$beta
  cat(sprintf('{"seconds": %.9g, "objective": null, "gap": null, "index": [%s], "value": [%s]}\n', seconds,
              paste(b@i, collapse = ","), paste(sprintf("%.17g", b@x * scale), collapse = ",")))
  flush(stdout())
}
