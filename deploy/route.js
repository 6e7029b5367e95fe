// A CloudFront function: which file of the bucket an address of the page is. Pictures and assets are
// their own addresses; whatever study is asked for, the page is the same.
function handler(event) {
  var request = event.request;
  if (request.uri === "/") request.uri = "/root.html";
  else if (/^\/s\/[^/]+$/.test(request.uri)) request.uri = "/index.html";
  else if (/^\/w\/[^/]+$/.test(request.uri)) request.uri = "/withdraw.html";
  else if (/^\/wait\/[^/]+$/.test(request.uri)) request.uri = "/wait.html";
  return request;
}
