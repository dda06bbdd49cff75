"""The tenant's REST API over the manager's database.

Built on falcon: it is in OpenStack's requirements (Zaqar's framework), maintained, without
dependencies, with one class for each noun. WebOb with Routes would leave the HTTP to us, and Flask
brings templates and sessions that an API does not need. The rest is OpenStack's own:
keystonemiddleware, oslo.policy, oslo.middleware, microversion-parse.

`endpoint` turns a method into a responder that authenticates, authorizes and validates. The OpenAPI
document is made from the same description of the method, so that the two cannot disagree.
"""
